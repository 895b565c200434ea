/* More spans than the ring holds, inside two that stay open; prints how many there were. */
#include <sonde/sonde.h>
#include <stdio.h>

#define ROUNDS 20000

int main(void)
{
	SONDE_SPAN("first");
	SONDE_SPAN("second");
	for (int i = 0; i < ROUNDS; i++) {
		SONDE_SPAN("work");
		{
			SONDE_SPAN("inner");
		}
		sonde_metric_add("rounds", 1);
	}
	printf("%d\n", 2 * ROUNDS + 2);
	return 0;
}

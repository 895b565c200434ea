/* More names than are kept. */
#include <sonde/sonde.h>
#include <stdio.h>

int main(void)
{
	char name[32];
	for (int i = 0; i < 70000; i++) {
		struct sonde_span s;
		snprintf(name, sizeof(name), "name number %d", i);
		sonde_span_begin(&s, name);
		sonde_span_end(&s);
	}
	return 0;
}

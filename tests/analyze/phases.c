/* Two phases in turn, each with two functions that nobody else calls: what acts together is known. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define WORKER(name, factor) \
	__attribute__((noinline)) static uint64_t name(uint64_t x) \
	{ \
		for (int i = 0; i < 20000; i++) \
			x = x * (factor) + (uint64_t)i; \
		return x; \
	}

WORKER(forward_layer, 6364136223846793005u)
WORKER(forward_norm, 2862933555777941757u)
WORKER(backward_layer, 3202034522624059733u)
WORKER(backward_norm, 4354685564936845355u)

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.2; /* NOLINT(cert-err34-c) */
	uint64_t x = 1;

	for (int round = 0; round < 4; round++) {
		double end = now() + seconds;

		while (now() < end)
			x = forward_norm(forward_layer(x));
		end = now() + seconds;
		while (now() < end)
			x = backward_norm(backward_layer(x));
	}
	printf("%d\n", (int)(x & 1));
	return 0;
}

/* A loop that calls nothing: argv[1] iterations of three phases of some tens of milliseconds, give or take a tenth. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) void spin(double seconds)
{
	double end = now() + seconds * (0.9 + 0.2 * rand() / RAND_MAX); /* NOLINT(cert-msc50-cpp,cert-msc30-c) */

	while (now() < end)
		for (int i = 0; i < 10000; i++)
			sink += (uint64_t)i * sink;
}

/* What stands behind the call keeps it from becoming a jump, which has no caller. */
#define PHASE(name, seconds) \
	static __attribute__((noinline)) void name(void) \
	{ \
		spin(seconds); \
		sink++; \
	}

PHASE(load, 0.03)
PHASE(train, 0.05)
PHASE(save, 0.025)

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 20; /* NOLINT(cert-err34-c) */

	for (int i = 0; i < iterations; i++) {
		load();
		train();
		save();
	}
	return 0;
}

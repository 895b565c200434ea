/*
 * A single annotation, repeated.
 *
 *   span WHAT COUNT    WHAT is span, instant or nothing
 *
 * Prints nanoseconds of CPU time of this thread per annotation, including the empty loop: the caller subtracts
 * "nothing". With -DFUNCTION a span is the call of an empty function, for function tracers (-pg); with -DLTTNG two
 * tracepoints.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(FUNCTION)
__attribute__((noinline)) static void span(void)
{
	__asm__ volatile("" : : : "memory");
}
#define INSTANT() span()
#define SPAN() span()
#elif defined(LTTNG)
#include "loop-lttng.h"
#define INSTANT() lttng_ust_tracepoint(sonde_bench, span, 0)
#define SPAN() \
	do { \
		lttng_ust_tracepoint(sonde_bench, span, 0); \
		lttng_ust_tracepoint(sonde_bench, span, 1); \
	} while (0)
#else
#include <sonde/sonde.h>
#define INSTANT() sonde_instant("instant")
#define SPAN() SONDE_SPAN("span")
#endif

static double cpu_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

#define LOOP(...) \
	for (long i = 0; i < count; i++) { \
		__VA_ARGS__; \
		__asm__ volatile("" : : : "memory"); \
	}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	long count = strtol(argv[2], NULL, 10);
	SPAN();
	double start = cpu_ns();
	if (!strcmp(argv[1], "span"))
		LOOP(SPAN())
	else if (!strcmp(argv[1], "instant"))
		LOOP(INSTANT())
	else
		LOOP()
	printf("%.3f\n", (cpu_ns() - start) / (double)count);
	return 0;
}

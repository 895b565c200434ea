/*
 * An application to monitor: live-app apps HZ STOP records a step and updates four metrics HZ times a second until
 * the file STOP exists; live-app hooks prints the cost of each kind of update, in nanoseconds; live-app frames is a
 * side of a duet with iterations of 20 frames of a millisecond's work each, with a step and four updates per frame.
 */
#include <sonde/duet.h>
#include <sonde/sonde.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 7
#define UPDATES 300000

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void update_all(int i)
{
	sonde_step("frame", i, 0.5);
	sonde_metric_add("frames", 1);
	sonde_metric_set("queue_depth", i % 10);
	sonde_metric_set("temperature_celsius", 40.5 + i % 7);
	sonde_metric_observe("latency_seconds", 0.001 * (i % 100));
}

#define MEASURE(what, update) \
	do { \
		double best = 1e18; \
		for (int r = 0; r < ROUNDS; r++) { \
			double from = cpu_ns(); \
			for (int i = 0; i < UPDATES; i++) \
				update; \
			double each = (cpu_ns() - from) / UPDATES; \
			best = each < best ? each : best; \
		} \
		printf("%s %.1f\n", what, best); \
	} while (0)

static int hooks(void)
{
	MEASURE("add", sonde_metric_add("frames", 1));
	MEASURE("set", sonde_metric_set("queue_depth", i));
	MEASURE("observe", sonde_metric_observe("latency_seconds", 0.001 * i));
	MEASURE("rate", sonde_rate("boxes", 3));
	return 0;
}

#define FRAMES 20
#define FRAME_ROUNDS 600000

static int frames(void)
{
	volatile double sink = 0;

	for (int i = 0; sonde_duet_is_on() && sonde_duet_begin();) {
		for (int end = i + FRAMES; i < end; i++) {
			double x = i;

			for (int k = 0; k < FRAME_ROUNDS; k++)
				x = x * 0.999 + 1;
			sink = sink + x;
			update_all(i);
		}
		sonde_duet_end(NAN);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "hooks") == 0)
		return hooks();
	if (argc == 2 && strcmp(argv[1], "frames") == 0)
		return frames();
	for (int i = 0; argc == 4 && access(argv[3], F_OK) != 0; i++) {
		update_all(i);
		usleep((useconds_t)(1000000 / atoi(argv[2])));
	}
	return 0;
}

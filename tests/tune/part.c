/* A program that takes part: knobs, steps and metrics. It prints what its knobs were when it first asked. */
#include <math.h>
#include <sonde/sonde.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Goes on until it is ended, and asks anew before each step. */
static void live(const char *file)
{
	FILE *pids = fopen(file, "a");

	if (pids) {
		fprintf(pids, "%d\n", (int)getpid());
		fclose(pids);
	}
	for (int i = 1; i < 1000000; i++) {
		long threads = (long)sonde_knob_int_in("threads", 4, 1, 64);
		const struct timespec pause = { .tv_nsec = 500000 };

		nanosleep(&pause, NULL);
		sonde_step("serve", i, fabs((double)threads - 20));
	}
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		live(argv[2]);
		return 0;
	}

	long threads = (long)sonde_knob_int_in("threads", 4, 1, 64);
	double rate = sonde_knob_real_in("rate", 0.5, 0, 1);
	long mode = (long)sonde_knob_choice("mode", 0, "rows|columns|tiles");
	long quick = (long)sonde_knob_int_in("quick", 0, 0, 1);
	int steps = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 20;
	double floor = fabs((double)threads - 20) / 10 + (double)mode;
	const struct timespec pause = { .tv_nsec = 1000000 };

	printf("knobs %ld %.17g %ld %ld\n", threads, rate, mode, quick);
	for (int i = 1; i <= steps; i++) {
		sonde_step("train", i, floor + 8.0 / i);
		sonde_step("other", i, 1000);
		sonde_rate("samples", 10);
		nanosleep(&pause, NULL);
	}
	sonde_metric_set("floor", floor);
	sonde_metric_add("work", 2);
	sonde_metric_add("work", 3);
	sonde_metric_observe("latency", 1);
	sonde_metric_observe("latency", 2);
	return 0;
}

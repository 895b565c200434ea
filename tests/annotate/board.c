/* Metrics, and knobs that are changed from outside: prints them, and again after each line of input. */
#include <math.h>
#include <sonde/sonde.h>
#include <stdio.h>
#include <time.h>

static void print_knobs(void)
{
	printf("%lld %lld %.17g %lld\n", (long long)sonde_knob_int("plain", -7),
			(long long)sonde_knob_int_in("threads", 4, 1, 64), sonde_knob_real_in("rate", 0.5, 0, 1),
			(long long)sonde_knob_choice("layout", 1, "rows|columns|tiles"));
	fflush(stdout);
}

/* However the block is left. */
static int timed(int i)
{
	const struct timespec pause = { 0, 1000000 };
	SONDE_TIMER("timed_seconds");
	nanosleep(&pause, NULL);
	if (i)
		return i;
	SONDE_TIMER("inner_seconds");
	return 0;
}

static void metrics(void)
{
	char name[80];
	for (int i = 0; i < 10; i++)
		sonde_metric_add("added", 0.5);
	sonde_metric_set("set", 3);
	sonde_metric_set("set", -4);
	sonde_metric_set("set", NAN);
	sonde_metric_add("set", 1); /* another kind */
	sonde_metric_add("added", INFINITY);
	for (int i = -2; i < 3; i++)
		sonde_metric_observe("seen", ldexp(1, i));
	sonde_metric_observe("seen", 0);
	sonde_metric_observe("seen", -NAN);
	for (int i = 0; i < 4; i++)
		sonde_rate("paced", 2);
	sonde_rate("paced", NAN);
	sonde_rate("paced", -1);
	sonde_metric_add("paced", 1); /* another kind */
	for (int i = 0; i < 3; i++)
		timed(i);
	for (int i = 0; i < 5; i++)
		sonde_step("loop", 10 + i, i < 3 ? i : i == 3 ? NAN : INFINITY);
	for (int i = 0; i < 300; i++) { /* more than there are slots */
		snprintf(name, sizeof(name), "flood %d", i);
		sonde_metric_set(name, i);
	}
}

int main(void)
{
	char line[8];
	metrics();
	print_knobs();
	while (fgets(line, sizeof(line), stdin))
		print_knobs();
	return 0;
}

/* pace: how many a second, on ticks of our own: lately, of a whole run, and of what is not to be believed. */
#include "../support.h"

#include "live/board-reader.h"

#include <math.h>
#include <string.h>

#define SECOND 1000000000ull
#define START (1000 * SECOND)

static const struct live_clock nanoseconds = { .is_monotonic = true, .tick_s = 1e-9 };

static uint64_t bits(double value)
{
	uint64_t u;

	memcpy(&u, &value, sizeof(u));
	return u;
}

struct rate {
	struct sonde_metric m;
	struct sonde_histogram h;
	double sum;
};

/* As the tracer does it. */
static void happen(struct rate *r, uint64_t ticks, double n)
{
	uint64_t period = ticks >> SONDE_RATE_SHIFT;

	if (period > r->h.count) {
		r->h.count = period;
		r->h.buckets[2 * (period % SONDE_RATE_PERIODS)] = period;
		r->h.buckets[2 * (period % SONDE_RATE_PERIODS) + 1] = bits(r->sum);
	}
	if (!r->m.first_ticks) {
		r->m.first_ticks = ticks;
		r->m.first_value = bits(n);
	}
	r->sum += n;
	r->m.value = bits(r->sum);
	r->m.ticks = ticks;
	r->m.count++;
}

/* So many a second, evenly. */
static void run(struct rate *r, double from_s, double to_s, double per_second, double n)
{
	for (double t = from_s; t < to_s; t += 1 / per_second)
		happen(r, START + (uint64_t)(t * 1e9), n);
}

static double at(const struct rate *r, double seconds)
{
	return live_current_rate(&r->m, &r->h, &nanoseconds, START + (uint64_t)(seconds * 1e9));
}

static void assert_near(double value, double truth, double tolerance)
{
	if (!(fabs(value - truth) <= tolerance))
		fail_msg("%g is not %g", value, truth);
}

static void steady(void **state)
{
	static struct rate r;

	run(&r, 0, 300, 30, 1);
	assert_near(at(&r, 300), 30, 0.3);
	assert_near(at(&r, 300.7), 30, 2.5);
}

/* Short of ten seconds it is of the time that there was; at once it is not known. */
static void young(void **state)
{
	static struct rate r;

	assert_true(isnan(at(&r, 0)));
	happen(&r, START, 1);
	assert_true(isnan(at(&r, 0.1)));
	assert_near(at(&r, 2), 0, 0);
	run(&r, 0.1, 2, 10, 5);
	assert_near(at(&r, 2), 50, 3);
}

static void ends(void **state)
{
	static struct rate r;

	run(&r, 0, 60, 30, 1);
	assert_near(at(&r, 65), 15, 1.5);
	assert_near(at(&r, 69), 3, 2);
	assert_near(at(&r, 71), 0, 0);
	assert_near(at(&r, 100000), 0, 0); /* when every note has long been somebody else's */
	run(&r, 100000, 100030, 4, 1);
	assert_near(at(&r, 100030), 4, 0.4);
}

/* A board is the program's. */
static void hostile(void **state)
{
	static struct rate r;

	run(&r, 0, 20, 30, 1);
	assert_true(isnan(live_current_rate(&r.m, NULL, &nanoseconds, START + 20 * SECOND)));
	assert_true(isnan(live_current_rate(&r.m, &r.h, &(struct live_clock){ .tick_s = NAN }, START + 20 * SECOND)));
	assert_true(isnan(live_current_rate(&r.m, &r.h, &nanoseconds, 5)));
	for (size_t i = 0; i < SONDE_RATE_PERIODS; i++)
		r.h.buckets[2 * i + 1] = bits(1e300);
	assert_near(at(&r, 20), 0, 0);
	for (size_t i = 0; i < SONDE_RATE_PERIODS; i++)
		r.h.buckets[2 * i + 1] = bits(NAN);
	assert_true(isnan(at(&r, 20)));
	memset(r.h.buckets, 0xff, sizeof(r.h.buckets));
	assert_near(at(&r, 20), 0, 0);
	r.m.value = bits(INFINITY);
	assert_true(isnan(at(&r, 20)));
}

static struct sonde_metric counted(double first_s, double last_s, double first_value, double total)
{
	return (struct sonde_metric){ .first_ticks = (uint64_t)(first_s * 1e9),
		.ticks = (uint64_t)(last_s * 1e9),
		.first_value = bits(first_value),
		.value = bits(total) };
}

/* Eleven events in ten seconds have ten times between them, whoever of the processes counts them. */
static void whole_run(void **state)
{
	struct live_rate p = { 0 };
	struct sonde_metric early = counted(1, 6, 1, 6), late = counted(7, 11, 1, 5), none = { 0 };

	assert_true(isnan(live_rate_per_second(&p)));
	live_rate_add(&p, &none, &nanoseconds);
	assert_true(isnan(live_rate_per_second(&p)));
	live_rate_add(&p, &late, &nanoseconds);
	live_rate_add(&p, &early, &nanoseconds);
	assert_near(live_rate_per_second(&p), 1, 1e-9);
	p = (struct live_rate){ 0 };
	late = counted(3, 3, 1, 1);
	live_rate_add(&p, &late, &nanoseconds);
	assert_true(isnan(live_rate_per_second(&p))); /* a lone one has no time between */
}

/* What ended before the mark, and what others had counted until then, is no part of it. */
static void marked(void **state)
{
	struct live_rate p = { 0 };
	struct sonde_metric ended = counted(1, 2, 1, 1000), running = counted(1, 5, 1, 500),
			    over = counted(1, 15, 1, 520);

	live_rate_add(&p, &ended, &nanoseconds);
	live_rate_mark(&p, &running, &nanoseconds, 5);
	assert_near(live_rate_per_second(&p), 0, 0);
	live_rate_add(&p, &over, &nanoseconds);
	assert_near(live_rate_per_second(&p), 2, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady),
		cmocka_unit_test(young),
		cmocka_unit_test(ends),
		cmocka_unit_test(hostile),
		cmocka_unit_test(whole_run),
		cmocka_unit_test(marked),
	};

	return RUN_TESTS(tests);
}

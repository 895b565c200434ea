/*
 * regulator: on a simulated plant with a virtual clock: it converges, holds, finds out that it
 * cannot, and gives back. The plant is the experiment of the specification: an application that
 * needs 20 ms of a processor a frame shares it with three others by weight.
 */
#include "../../support.h"

#include "live/rules/action.h"

#include <math.h>

#define TICK_NS 250000000LL
#define WEIGHT_REST 1024.0
#define WEIGHT_FULL 262144.0

struct plant {
	double own, others, strangers; /* weights; strangers' is nobody's to change */
	double fps, noise;
	uint64_t seed;
};

static double noise(struct plant *p)
{
	p->seed = p->seed * 6364136223846793005ull + 1442695040888963407ull;
	return p->noise * ((double)(p->seed >> 33) / (double)(1ull << 31) - 0.5);
}

/* Half of the way to where the weights lead, and the noise of a quarter of a second. */
static void plant_step(struct plant *p)
{
	double share = p->own / (p->own + p->others + p->strangers);

	p->fps += 0.5 * (50 * share - p->fps) + noise(p);
}

struct run {
	struct plant plant;
	struct regulator_settings settings;
	struct regulator regulator;
	int64_t now_ns;
	int moves, escalations, saturations, recoveries;
};

static struct run begin(enum regulator_method method, double strangers)
{
	struct run r = { .plant = { WEIGHT_REST, 3 * WEIGHT_REST, strangers, 15, 1, 42 },
		.settings = REGULATOR_USUAL,
		.now_ns = 1000000000 };

	r.settings.method = method;
	r.settings.target = 30;
	r.settings.rung_count = 1;
	return r;
}

static void advance(struct run *r, int ticks)
{
	for (int i = 0; i < ticks; i++) {
		enum regulator_event event;

		plant_step(&r->plant);
		r->now_ns += TICK_NS;
		event = regulator_step(&r->regulator, &r->settings, r->plant.fps, r->now_ns);
		r->plant.own = WEIGHT_REST * pow(WEIGHT_FULL / WEIGHT_REST, r->regulator.efforts[0]);
		r->moves += event == REGULATOR_MOVED;
		r->escalations += event == REGULATOR_ESCALATED;
		r->saturations += event == REGULATOR_SATURATED;
		r->recoveries += event == REGULATOR_RECOVERED;
	}
}

static double mean_fps(struct run *r, int ticks, double *least)
{
	double sum = 0;

	*least = INFINITY;
	for (int i = 0; i < ticks; i++) {
		advance(r, 1);
		sum += r->plant.fps;
		*least = fmin(*least, r->plant.fps);
	}
	return sum / ticks;
}

static void converges_and_holds(enum regulator_method method)
{
	struct run r = begin(method, 0);
	double least, mean;

	advance(&r, 40);
	mean = mean_fps(&r, 200, &least);
	assert_true(mean >= 30 && mean <= 30 * 1.25);
	assert_true(least > 26);
	assert_int_equal(r.saturations, 0);
}

static void test_aimd(void **state)
{
	converges_and_holds(REGULATOR_AIMD);
}

static void test_pi(void **state)
{
	converges_and_holds(REGULATOR_PI);
}

/* The others leave: the effort is given back and stays away. */
static void test_gives_back(void **state)
{
	struct run r = begin(REGULATOR_AIMD, 0);

	advance(&r, 100);
	assert_true(r.regulator.efforts[0] > 0.1);
	r.plant.others = 0;
	advance(&r, 400);
	assert_true(r.regulator.efforts[0] == 0);
}

/* Nothing that is allowed helps: back to rest, told once, tried again later and not before. */
static void test_saturates(void **state)
{
	struct run r = begin(REGULATOR_AIMD, 1e9);

	r.settings.saturation_ns = 3000000000;
	advance(&r, 60);
	assert_int_equal(r.saturations, 1);
	assert_true(r.regulator.efforts[0] == 0);
	advance(&r, 200);
	assert_int_equal(r.saturations, 1);
	r.plant.strangers = 0;
	r.plant.others = 0;
	advance(&r, 20);
	assert_int_equal(r.recoveries, 1);
	assert_false(r.regulator.is_saturated);
	r.plant.others = 3 * WEIGHT_REST;
	advance(&r, 100);
	assert_true(r.plant.fps > 26);
}

/* It helps, though not enough: what helps is kept, and the next rung is tried. */
static void test_escalates(void **state)
{
	struct run r = begin(REGULATOR_AIMD, 3e5);

	r.settings.rung_count = 2;
	advance(&r, 35);
	assert_int_equal(r.escalations, 1);
	assert_true(r.regulator.efforts[0] == 1);
	assert_true(r.regulator.efforts[1] > 0);
	assert_int_equal((int)r.regulator.rung, 1);
	advance(&r, 60); /* which does nothing here */
	assert_int_equal(r.saturations, 1);
	assert_true(r.regulator.efforts[0] == 1);
	assert_true(r.regulator.efforts[1] == 0);
}

static void test_threshold_has_hysteresis(void **state)
{
	struct run r = begin(REGULATOR_THRESHOLD, 0);

	assert_int_equal(regulator_step(&r.regulator, &r.settings, 29, 1000000000), REGULATOR_MOVED);
	assert_true(r.regulator.efforts[0] == 1);
	assert_int_equal(regulator_step(&r.regulator, &r.settings, 34, 1100000000), REGULATOR_SAME);
	assert_int_equal(regulator_step(&r.regulator, &r.settings, 35, 1200000000), REGULATOR_MOVED);
	assert_true(r.regulator.efforts[0] == 0);
	assert_int_equal(regulator_step(&r.regulator, &r.settings, 31, 1300000000), REGULATOR_SAME);
}

static void test_upper_target(void **state)
{
	struct regulator_settings s = REGULATOR_USUAL;

	s.target = 0.05;
	s.is_upper = true;
	assert_true(regulator_shortfall(&s, 0.1) > 0.99);
	assert_true(regulator_shortfall(&s, 0.025) < -0.49);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aimd),
		cmocka_unit_test(test_pi),
		cmocka_unit_test(test_gives_back),
		cmocka_unit_test(test_saturates),
		cmocka_unit_test(test_escalates),
		cmocka_unit_test(test_threshold_has_hysteresis),
		cmocka_unit_test(test_upper_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

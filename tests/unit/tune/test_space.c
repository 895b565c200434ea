/* space: values to coordinates and back, what is active, what is allowed, in every kind of parameter. */
#include "../support.h"

#include "studies.h"
#include "tune/space.h"

#include <errno.h>

static struct tune_study study;
static struct arena arena;

static int set_up(void **state)
{
	arena_init(&arena);
	return parse(&study, MIXED, &arena, NULL);
}

static int tear_down(void **state)
{
	arena_release(&arena);
	return 0;
}

static void units_come_back(void **state)
{
	struct stats_rng rng;

	stats_rng_init(&rng, 1, 1);
	for (size_t i = 0; i < study.space.count; i++)
		for (int t = 0; t < 200; t++) {
			const struct tune_param *p = &study.space.params[i];
			double value = tune_param_from_unit(p, stats_rng_uniform(&rng)),
			       unit = tune_param_to_unit(p, value);

			assert_true(unit >= 0 && unit <= 1);
			assert_true(fabs(tune_param_from_unit(p, unit) - value) < 1e-12);
			assert_true(tune_param_snap(p, value) == value);
		}
}

static void ends_are_reached(void **state)
{
	const struct tune_param *n = tune_space_find(&study.space, "n");

	assert_true(tune_param_from_unit(n, 0) == 1 && tune_param_from_unit(n, 1) == 64);
	assert_true(tune_param_from_unit(n, 0.5) == 6); /* the middle of a logarithmic scale */
	assert_int_equal(tune_param_levels(n), 64);
}

static void texts_come_back(void **state)
{
	struct stats_rng rng;
	char text[64];

	stats_rng_init(&rng, 2, 1);
	for (size_t i = 0; i < study.space.count; i++)
		for (int t = 0; t < 100; t++) {
			const struct tune_param *p = &study.space.params[i];
			double value = tune_param_from_unit(p, stats_rng_uniform(&rng)), back;

			tune_param_format(p, value, text, sizeof(text));
			assert_int_equal(tune_param_parse(p, text, &back, NULL), 0);
			assert_true(back == value);
		}
}

static void children_follow_their_parent(void **state)
{
	struct stats_rng rng;
	double point[TUNE_PARAMS_MAX], x[TUNE_PARAMS_MAX];
	size_t active = 0;

	stats_rng_init(&rng, 3, 1);
	for (int t = 0; t < 300; t++) {
		tune_point_random(&study.space, &rng, point);
		assert_true(isnan(point[3]) == (point[2] != 1));
		active += !isnan(point[3]);
		tune_point_coordinates(&study.space, point, x);
		assert_true(!isnan(point[3]) || x[3] == 0.5);
	}
	assert_true(active > 60 && active < 140);
	point[2] = 1;
	point[3] = NAN;
	tune_point_canonical(&study.space, point);
	assert_true(point[3] == study.space.params[3].start); /* woken up with its default */
}

static void the_default_is_the_default(void **state)
{
	double point[TUNE_PARAMS_MAX];

	tune_point_default(&study.space, point);
	assert_true(point[0] == 0.5 && point[1] == 6 && point[2] == 0 && isnan(point[3]) && point[4] == 2 &&
			point[5] == 0);
}

static bool holds(const char *text, const double *point)
{
	const struct tune_expression *e;

	assert_int_equal(tune_expression_parse(&e, &study.space, text, &arena, NULL), 0);
	return tune_expression_holds(e, &study.space, point);
}

static void constraints_mean_what_they_say(void **state)
{
	double point[] = { 0.25, 8, 1, 4, 1, 1 }; /* x n mode k sync fast */
	double idle[] = { 0.25, 8, 0, NAN, 1, 1 };

	assert_true(holds("n * k <= 32", point) && !holds("n * k < 32", point));
	assert_true(holds("sync >= NORMAL", point) && !holds("sync > NORMAL", point) && holds("NORMAL <= sync", point));
	assert_true(holds("mode == b and fast", point) && !holds("mode != b or not fast", point));
	assert_true(holds("-x + 1 == 0.75", point) && holds("2 * (x + 1) = 2.5", point));
	assert_true(holds("not (mode == 'a') && (x < 0.1 || n > 7)", point));
	assert_true(holds("k > 100", idle)); /* not active: does not apply */
	assert_true(holds("k > 100 or n == 8", idle) && !holds("k > 100 and n == 9", idle));
	assert_false(holds("n / 0 > 1", point));
}

static void wrong_constraints_are_explained(void **state)
{
	static const struct {
		const char *text, *why, *hint;
	} wrong[] = {
		{ "n <", "column 4: expected a value", "" },
		{ "m < 3", "unknown parameter 'm'", "" },
		{ "modes == a", "unknown parameter 'modes'", "'mode'" },
		{ "sync >= NORMALL", "has no choice 'NORMALL'", "'NORMAL'" },
		{ "mode > a", "have no order", "" },
		{ "mode + 1 > 2", "arithmetic on choices", "" },
		{ "(n < 3", "missing ')'", "" },
		{ "n < 3 4", "expected an operator", "" },
		{ "mode == 'a", "missing closing quote", "" },
		{ "", "expected a value", "" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct tune_expression *e;
		struct sonde_err err = SONDE_ERR_INIT;

		assert_int_equal(tune_expression_parse(&e, &study.space, wrong[i].text, &arena, &err), -EINVAL);
		if (!strstr(err.text, wrong[i].why) || !strstr(err.hint, wrong[i].hint))
			fail_msg("'%s' gave: %s (%s)", wrong[i].text, err.text, err.hint);
	}
}

/* Any text is understood or refused. */
static void any_text_is_fine(void **state)
{
	static const char *const words[] = { "n", "x", "mode", "a", "<", ">=", "==", "(", ")", "and", "or", "not", "-",
		"*", "/", "1e3", ".5", "'", "\"", "!", "&&", " ", "sync", "FULL", "\xff", "=" };

	random_init();
	for (int t = 0; t < 20000; t++) {
		char text[200] = "";
		double point[] = { 0.25, 8, 1, 4, 1, 1 };
		const struct tune_expression *e;
		struct arena some = ARENA_INIT;

		for (size_t n = random_below(12); n > 0; n--)
			strcat(text, words[random_below(sizeof(words) / sizeof(words[0]))]);
		if (tune_expression_parse(&e, &study.space, text, &some, NULL) == 0)
			(void)tune_expression_holds(e, &study.space, point);
		arena_release(&some);
	}
}

static void small_spaces_are_counted(void **state)
{
	struct tune_study small;
	double point[TUNE_PARAMS_MAX];
	size_t allowed = 0;

	assert_int_equal(tune_space_size(&study.space, 1 << 20), 0); /* a float has no size */
	assert_int_equal(parse(&small,
					 "params:\n  - {name: a, type: int, low: 3, high: 5}\n  - {name: b, type: "
					 "bool}\n"
					 "  - {name: c, type: categorical, choices: [u, v], active_if: {b: true}}\n"
					 "constraints: ['a != 4']\nobjective: {name: value}\n",
					 &arena, NULL),
			0);
	assert_int_equal(tune_space_size(&small.space, 100), 12);
	assert_int_equal(tune_space_size(&small.space, 11), 0);
	for (uint64_t i = 0; i < 12; i++) {
		tune_space_nth(&small.space, i, point);
		assert_true(point[0] >= 3 && point[0] <= 5 && isnan(point[2]) == (point[1] == 0));
		allowed += tune_point_is_allowed(&small.space, point);
	}
	assert_int_equal(allowed, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(units_come_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_are_reached, set_up, tear_down),
		cmocka_unit_test_setup_teardown(texts_come_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(children_follow_their_parent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_default_is_the_default, set_up, tear_down),
		cmocka_unit_test_setup_teardown(constraints_mean_what_they_say, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_constraints_are_explained, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_text_is_fine, set_up, tear_down),
		cmocka_unit_test_setup_teardown(small_spaces_are_counted, set_up, tear_down),
	};

	return RUN_TESTS(tests);
}

/* level: ratios to others become costs on one scale; what is learnt of a rival counts for all that ran beside it. */
#include "../support.h"

#include "../stats/near.h"
#include "studies.h"
#include "tune/model.h"

#define SPACE "params: [{name: x, type: float, low: 0, high: 1}]\n"

struct scene {
	struct arena arena;
	struct tune_study study;
	struct tune_optimizer o;
	struct tune_model *m;
};

static void set_up(struct scene *s, const char *goal)
{
	char text[200];

	memset(s, 0, sizeof(*s));
	arena_init(&s->arena);
	snprintf(text, sizeof(text), SPACE "objective: {name: value, goal: %s}\n", goal);
	assert_int_equal(parse(&s->study, text, &s->arena, NULL), 0);
	assert_int_equal(make(&s->o, &s->study, 1), 0);
	s->m = arena_alloc(&s->arena, sizeof(*s->m));
	assert_non_null(s->m);
}

static void tear_down(struct scene *s)
{
	tune_optimizer_release(&s->o);
	arena_release(&s->arena);
}

/* A trial at x; beside 0: a value without a rival. */
static void run(struct scene *s, double x, uint64_t beside, double ratio, double value)
{
	struct tune_result result = { .state = TUNE_DONE, .values = { value }, .beside = beside, .ratio = ratio };
	const struct tune_trial *trial;

	assert_int_equal(tune_add(&s->o, 0, &x, &trial, NULL), 0);
	assert_int_equal(tune_tell(&s->o, trial->id, &result, NULL), 0);
}

/* The cost of the model's row at x. */
static double level_at(struct scene *s, double x)
{
	double cost[20], sign = s->o.options.is_maximized[0] ? -1 : 1;
	struct tune_model_options how = { .cost = cost, .is_warped = true, .has_pairs = true };

	for (size_t t = 0; t < s->o.count; t++)
		cost[t] = tune_cost(&s->o, &s->o.trials[t], 0);
	assert_int_equal(tune_model_fit(s->m, &s->o, &how, &s->arena, NULL), 0);
	return sign * tune_unwarp(&s->m->warp, s->m->y[tune_model_row(s->m, &s->o, &x)]);
}

static void a_rival_that_was_lucky_is_found_out(void **state)
{
	static const char *const goals[] = { "minimize", "maximize" };

	for (size_t i = 0; i < 2; i++) {
		struct scene s;

		set_up(&s, goals[i]);
		run(&s, 0.5, 1, 1, 1);
		run(&s, 0.6, 1, 0.5, 0.5); /* luck: it is no better than the first */
		run(&s, 0.7, 2, 1.2, 0.6); /* by that */
		run(&s, 0.8, 2, 0.8, 0.4);
		assert_true(is_near(level_at(&s, 0.7), 0.6, 1e-3) && is_near(level_at(&s, 0.8), 0.4, 1e-3));
		run(&s, 0.6, 1, 2, 2); /* once more */
		assert_true(is_near(level_at(&s, 0.5), 1, 1e-3) && is_near(level_at(&s, 0.6), 1, 1e-3));
		assert_true(is_near(level_at(&s, 0.7), 1.2, 1e-3) && is_near(level_at(&s, 0.8), 0.8, 1e-3));
		tear_down(&s);
	}
}

/* Those beside the same rival are wrong together; a rival is known the better the more ran beside it and others. */
static void rows_share_what_their_rival_is_wrong_by(void **state)
{
	struct scene s;
	double x = 0.6, y = 0.7, z = 0.8;
	size_t a, b, c, n;

	set_up(&s, "minimize");
	run(&s, 0.5, 1, 1, 1);
	run(&s, x, 1, 0.9, 0.9);
	run(&s, y, 2, 1.1, 1);
	run(&s, z, 2, 1.1, 1);
	level_at(&s, x);
	n = s.m->n;
	a = tune_model_row(s.m, &s.o, &x);
	b = tune_model_row(s.m, &s.o, &y);
	c = tune_model_row(s.m, &s.o, &z);
	assert_true(is_near(s.m->shared[a * n + a], 2, 0.01) && is_near(s.m->shared[b * n + b], 4, 0.01));
	assert_true(is_near(s.m->shared[b * n + c], 2, 0.01));
	tear_down(&s);
}

/* Values without rivals, a rival that is not there, a trial beside itself: whatever a journal has. */
static void odd_journals_are_survived(void **state)
{
	struct scene s;

	set_up(&s, "minimize");
	run(&s, 0.5, 0, 0, 3);
	run(&s, 0.6, 77, 0.5, 2);
	run(&s, 0.7, 1, 0.5, 1.5);
	assert_true(is_near(level_at(&s, 0.5), 3, 1e-6) && is_near(level_at(&s, 0.6), 2, 1e-6));
	assert_true(is_near(level_at(&s, 0.7), 1.5, 1e-6));
	run(&s, 0.7, 3, 5, 9); /* beside the same configuration */
	assert_true(is_near(level_at(&s, 0.7), 1.5, 1e-6));
	run(&s, 0.8, 6, 2, 9);
	run(&s, 0.9, 5, 2, 9);
	assert_true(level_at(&s, 0.8) > 0);
	tear_down(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rival_that_was_lucky_is_found_out),
		cmocka_unit_test(rows_share_what_their_rival_is_wrong_by),
		cmocka_unit_test(odd_journals_are_survived),
	};

	return RUN_TESTS(tests);
}

/* plan: orders are balanced, random, and repeated by a seed. */
#include "../support.h"

#include "duet/duet.h"

#include <string.h>

enum { RUNS = 2 + 4 + 8 + 16 + 32 + 64 }; /* whole groups */

struct tally {
	size_t first_b, swapped, both;
};

static struct tally count(struct duet_plan *p, size_t runs)
{
	struct duet_turn turns[DUET_TURNS_MAX];
	struct tally t = { 0 };

	for (size_t r = 0; r < runs; r++) {
		duet_plan_next(p, turns);
		for (size_t i = 0; i < p->turns; i++) {
			t.first_b += turns[i].is_first_b;
			t.swapped += turns[i].is_swapped;
			t.both += turns[i].is_first_b && turns[i].is_swapped;
		}
	}
	return t;
}

/* Defect 8 of the original: five repetitions could be AB all of them. */
static void no_side_is_first_more_often(void **state)
{
	random_init();
	for (size_t turns = 1; turns <= 9; turns++) {
		struct duet_plan p;
		struct tally t;

		duet_plan_init(&p, DUET_RMIT, turns, false, random_u64());
		t = count(&p, RUNS);
		assert_int_equal(t.first_b, RUNS * turns / 2);
		assert_int_equal(t.swapped, 0);
		assert_int_equal(p.made, RUNS);
	}
}

/* Each twice as long as the one before, so that nobody can keep step with them. */
static void every_group_of_runs_is_balanced(void **state)
{
	struct duet_plan p;

	random_init();
	for (size_t first = 2; first <= DUET_GROUP_FIRST; first += 2) {
		duet_plan_init(&p, DUET_RMIT, 1, false, random_u64());
		p.group = first;
		for (size_t group = first; group <= DUET_GROUP_MAX; group *= 2)
			assert_int_equal(count(&p, group).first_b, group / 2);
		assert_int_equal(count(&p, DUET_GROUP_MAX).first_b, DUET_GROUP_MAX / 2);
	}
}

/*
 * What hits the second execution of one run and the first of the next, and so on, must not do it in step with the
 * order: of groups of four the sum has 4 / 3 of the variance that as many coins have.
 */
static void what_alternates_is_not_foreseen(void **state)
{
	enum { PLANS = 4000, N = 60 };
	struct duet_turn turn;
	double squares = 0;

	for (uint64_t seed = 0; seed < PLANS; seed++) {
		struct duet_plan p;
		double sum = 0;

		duet_plan_init(&p, DUET_RMIT, 1, false, seed);
		p.group = DUET_GROUP_FIRST;
		for (size_t r = 0; r < N; r++) {
			duet_plan_next(&p, &turn);
			sum += turn.is_first_b == (r % 2 == 0) ? 1 : -1;
		}
		squares += sum * sum;
	}
	assert_true(squares / PLANS / N < 1.2);
}

static void cpus_are_swapped_as_often_as_not(void **state)
{
	struct duet_plan p;
	struct tally t;

	random_init();
	duet_plan_init(&p, DUET_SYNC, 6, true, random_u64());
	t = count(&p, 200);
	assert_int_equal(t.first_b, 600);
	assert_int_equal(t.swapped, 600);
	/* independent of the order: about half of the half */
	assert_in_range(t.both, 220, 380);
}

static void sequential_is_always_a_first(void **state)
{
	struct duet_plan p;

	duet_plan_init(&p, DUET_SEQ, 5, false, 3);
	assert_int_equal(count(&p, RUNS).first_b, 0);
}

static void a_seed_repeats(void **state)
{
	struct duet_turn one[8] = { 0 }, two[8] = { 0 };
	struct duet_plan p, q, other;
	size_t same = 0;

	duet_plan_init(&p, DUET_RMIT, 8, true, 42);
	duet_plan_init(&q, DUET_RMIT, 8, true, 42);
	duet_plan_init(&other, DUET_RMIT, 8, true, 43);
	for (size_t r = 0; r < RUNS; r++) {
		duet_plan_next(&p, one);
		duet_plan_next(&q, two);
		assert_memory_equal(one, two, sizeof(one));
		duet_plan_next(&other, two);
		same += !memcmp(one, two, sizeof(one));
	}
	assert_true(same < RUNS / 2);
}

/* Seed 0 is a seed like any other (the original ignored it). */
static void seed_zero_is_a_seed(void **state)
{
	struct duet_turn one[64], two[64];
	struct duet_plan p, q;

	duet_plan_init(&p, DUET_RMIT, 64, false, 0);
	duet_plan_init(&q, DUET_RMIT, 64, false, 0);
	duet_plan_next(&p, one);
	duet_plan_next(&q, two);
	assert_memory_equal(one, two, sizeof(one));
}

static void turns_are_bounded(void **state)
{
	struct duet_plan p;

	duet_plan_init(&p, DUET_RMIT, 0, false, 1);
	assert_int_equal(p.turns, 1);
	duet_plan_init(&p, DUET_RMIT, SIZE_MAX, false, 1);
	assert_int_equal(p.turns, DUET_TURNS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_side_is_first_more_often),
		cmocka_unit_test(every_group_of_runs_is_balanced),
		cmocka_unit_test(what_alternates_is_not_foreseen),
		cmocka_unit_test(cpus_are_swapped_as_often_as_not),
		cmocka_unit_test(sequential_is_always_a_first),
		cmocka_unit_test(a_seed_repeats),
		cmocka_unit_test(seed_zero_is_a_seed),
		cmocka_unit_test(turns_are_bounded),
	};

	return RUN_TESTS(tests);
}

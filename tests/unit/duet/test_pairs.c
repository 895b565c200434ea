/* pairs: which iterations are compared with which. */
#include "../support.h"

#include "duet/pairs.h"

#include <math.h>

struct times {
	int64_t start, end;
};

static void fill(struct duet_samples *s, const struct times *times, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct duet_iteration it = duet_iteration_at(times[i].start, times[i].end);

		assert_int_equal(duet_samples_add(s, &it), 0);
	}
}

#define FILL(run, side, ...) \
	do { \
		static const struct times times_[] = { __VA_ARGS__ }; \
		fill(&(run)->sides[side], times_, sizeof(times_) / sizeof(*times_)); \
	} while (0)

static struct duet_pairs make(struct duet_run *run, const struct duet_pairing *how, struct arena *arena)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_pairs pairs;

	assert_int_equal(duet_pairs_make(&pairs, run, 1, how, arena, &err), 0);
	return pairs;
}

static void by_index(void **state)
{
	struct duet_run run = { .design = DUET_RMIT };
	struct duet_pairing how = { .metric = DUET_WALL };
	struct arena arena = ARENA_INIT;
	struct duet_pairs p;

	FILL(&run, DUET_A, { 0, 10 }, { 20, 40 }, { 60, 70 });
	FILL(&run, DUET_B, { 10, 20 }, { 40, 60 });
	p = make(&run, &how, &arena);
	assert_int_equal(p.count, 2);
	assert_int_equal(p.unpaired, 1);
	assert_true(p.x[0] == 0 && p.x[1] == 0 && p.first[0] == 0 && p.first[1] == 2);
	duet_run_release(&run);
	arena_release(&arena);
}

static void ratio_is_b_over_a(void **state)
{
	struct duet_run run = { .design = DUET_SEQ };
	struct duet_pairing how = { .metric = DUET_WALL };
	struct arena arena = ARENA_INIT;

	FILL(&run, DUET_A, { 0, 10 });
	FILL(&run, DUET_B, { 10, 30 });
	assert_true(fabs(make(&run, &how, &arena).x[0] - log(2)) < 1e-12);
	how.is_more_better = true;
	assert_true(fabs(make(&run, &how, &arena).x[0] + log(2)) < 1e-12);
	duet_run_release(&run);
	arena_release(&arena);
}

/* Defect 1 of the original: A=[0,10][10,20], B=[2,6][6,12] missed the overlap of the first A with the second B. */
static void every_overlap_is_found(void **state)
{
	struct duet_run run = { .design = DUET_ASYNC };
	struct duet_pairing how = { .metric = DUET_WALL, .min_overlap = 0.05 };
	struct arena arena = ARENA_INIT;
	struct duet_pairs p;

	/* with neighbours on both ends, so that all of these are accompanied */
	FILL(&run, DUET_A, { -100, 0 }, { 0, 10 }, { 10, 20 }, { 20, 120 });
	FILL(&run, DUET_B, { -100, 2 }, { 2, 6 }, { 6, 12 }, { 12, 120 });
	p = make(&run, &how, &arena);
	bool is_found = false;
	for (size_t i = 0; i < p.count; i++)
		is_found |= p.a[i] == 1 && p.b[i] == 2 && p.weight[i] == 4;
	assert_true(is_found);
	duet_run_release(&run);
	arena_release(&arena);
}

/* The last iteration of a side that goes on alone met an empty machine. */
static void lonely_iterations_are_left_out(void **state)
{
	struct duet_run run = { .design = DUET_ASYNC };
	struct duet_pairing how = { .metric = DUET_WALL };
	struct arena arena = ARENA_INIT;
	struct duet_pairs p;

	FILL(&run, DUET_A, { 0, 1000 }, { 1000, 2000 }, { 2000, 3000 });
	FILL(&run, DUET_B, { 0, 1000 }, { 1000, 2000 }, { 2000, 3500 });
	p = make(&run, &how, &arena);
	assert_int_equal(p.count, 2);
	for (size_t i = 0; i < p.count; i++)
		assert_true(p.b[i] != 2);
	duet_run_release(&run);
	arena_release(&arena);
}

static void what_is_not_known_is_not_paired(void **state)
{
	struct duet_run run = { .design = DUET_RMIT };
	struct duet_pairing how = { .metric = DUET_CPU };
	struct arena arena = ARENA_INIT;
	struct duet_pairs p;

	FILL(&run, DUET_A, { 0, 10 }, { 20, 40 });
	FILL(&run, DUET_B, { 10, 20 }, { 40, 60 });
	run.sides[DUET_A].items[0].metrics[DUET_CPU] = 5;
	run.sides[DUET_B].items[0].metrics[DUET_CPU] = 0;
	p = make(&run, &how, &arena);
	assert_int_equal(p.count, 0);
	assert_int_equal(p.missing, 2);
	duet_run_release(&run);
	arena_release(&arena);
}

static void warm_up_is_left_out(void **state)
{
	struct duet_run run = { .design = DUET_SYNC };
	struct duet_pairing how = { .metric = DUET_WALL, .has_warmup = true };
	struct arena arena = ARENA_INIT;
	struct duet_pairs p;

	/* No chance in it: now and then a further change is seen in what is noise. */
	for (int i = 0; i < 40; i++)
		for (int side = 0; side < DUET_SIDES; side++) {
			int64_t ns = 100000 + (i * 617 + side * 331) % 1000 + (i < 8 && side == DUET_B ? 90000 : 0);
			struct duet_iteration it = duet_iteration_at(0, ns);

			assert_int_equal(duet_samples_add(&run.sides[side], &it), 0);
		}
	p = make(&run, &how, &arena);
	assert_int_equal(p.count, 32);
	assert_int_equal(p.a[0], 8);
	assert_int_equal(p.warmup, 16);
	assert_int_equal(p.unsettled, 0);
	how.has_warmup = false;
	assert_int_equal(make(&run, &how, &arena).count, 40);
	duet_run_release(&run);
	arena_release(&arena);
}

static void nothing_is_nothing(void **state)
{
	struct duet_run runs[2] = { { .design = DUET_ASYNC }, { .design = DUET_RMIT } };
	struct duet_pairing how = { .metric = DUET_WALL, .has_warmup = true };
	struct arena arena = ARENA_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_pairs p;

	assert_int_equal(duet_pairs_make(&p, runs, 2, &how, &arena, &err), 0);
	assert_int_equal(p.count, 0);
	assert_int_equal(p.first[2], 0);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_index),
		cmocka_unit_test(ratio_is_b_over_a),
		cmocka_unit_test(every_overlap_is_found),
		cmocka_unit_test(lonely_iterations_are_left_out),
		cmocka_unit_test(what_is_not_known_is_not_paired),
		cmocka_unit_test(warm_up_is_left_out),
		cmocka_unit_test(nothing_is_nothing),
	};

	return RUN_TESTS(tests);
}

/*
 * A few rows, fed by hand: every aggregate with its exact value, keys of every kind, what is saved and loaded, and the
 * bounds of a plan. Blocks are allocations of exactly their rows, so that a sanitizer sees an access beyond them.
 */
#include "support.h"

#include "engine/plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the table counter: time, process, pid, tid, name, and a real. */
enum { TIME = STORE_COUNTER_ts_ns, KEY = STORE_COUNTER_process, VALUE = STORE_COUNTER_pid, OTHER = STORE_COUNTER_tid };
enum { REAL = STORE_COUNTER_value, NONE = ENGINE_NONE, ROWS_MAX = 16 };

struct row {
	int64_t key, value, other;
	double real;
};

struct fed {
	struct engine_plan *plan;
	const struct engine_groups *groups;
};

static void feed(struct engine_plan *plan, const struct row *rows, size_t n)
{
	int64_t *keys = malloc(n * sizeof(*keys)), *values = malloc(n * sizeof(*values)),
		*others = malloc(n * sizeof(*others));
	double *reals = malloc(n * sizeof(*reals));
	struct engine_rows block = { .count = n,
		.ints = { [KEY] = keys, [VALUE] = values, [OTHER] = others },
		.reals = { [REAL] = reals } };

	for (size_t i = 0; i < n; i++) {
		keys[i] = rows[i].key;
		values[i] = rows[i].value;
		others[i] = rows[i].other;
		reals[i] = rows[i].real;
	}
	assert_int_equal(engine_plan_feed(plan, &block), 0);
	free(keys);
	free(values);
	free(others);
	free(reals);
}

static struct engine_plan *plan_of(const struct engine_query *q)
{
	struct engine_plan *plan;

	assert_int_equal(engine_plan_new(&plan, &store_counter_schema, NULL), 0);
	assert_true(engine_plan_is_empty(plan));
	assert_int_equal(engine_plan_query(plan, q), 0);
	assert_false(engine_plan_is_empty(plan));
	return plan;
}

static const struct engine_groups *finish(struct engine_plan *plan)
{
	assert_int_equal(engine_plan_finish(plan, NULL), 0);
	return engine_plan_groups(plan, 0);
}

static const struct engine_query everything = { "everything", 1, { KEY }, NONE, 8,
	{ { ENGINE_COUNT, NONE }, { ENGINE_SUM, VALUE }, { ENGINE_MIN, VALUE }, { ENGINE_MAX, VALUE },
			{ ENGINE_MOMENTS, VALUE }, { ENGINE_QUANTILES, VALUE }, { ENGINE_DISTINCT, VALUE },
			{ ENGINE_SUM_REAL, REAL } } };

/* Group 5: 3, 7, null, 3; reals 0.5, 0.25, null, 1. Group -1: only nulls. */
static const struct row some[] = { { 5, 3, 0, 0.5 }, { -1, STORE_NULL, 0, NAN }, { 5, 7, 0, 0.25 },
	{ 5, STORE_NULL, 0, NAN }, { 5, 3, 0, 1 } };

static void check_everything(const struct engine_groups *g)
{
	assert_int_equal(g->count, 2);
	assert_int_equal(engine_key(g, 0, 0), -1);
	assert_int_equal(engine_key(g, 1, 0), 5);
	assert_int_equal(engine_count(g, 0, 0), 1);
	assert_int_equal(engine_count(g, 1, 0), 0);
	assert_int_equal(engine_sum(g, 1, 0), 0);
	assert_int_equal(engine_extreme(g, 2, 0), STORE_NULL);
	assert_int_equal(engine_extreme(g, 3, 0), STORE_NULL);
	assert_true(isnan(engine_mean(g, 4, 0)) && isnan(engine_variance(g, 4, 0)));
	assert_true(isnan(engine_mean(g, 7, 0)) && isnan(engine_mean(g, 1, 0)));
	assert_int_equal(engine_distinct(g, 6, 0), 0);
	assert_int_equal(engine_count(g, 0, 1), 4);
	for (unsigned a = 1; a <= 5; a++)
		assert_int_equal(engine_count(g, a, 1), 3);
	assert_int_equal(engine_count(g, 7, 1), 3);
	assert_int_equal(engine_sum(g, 1, 1), 13);
	assert_int_equal(engine_extreme(g, 2, 1), 3);
	assert_int_equal(engine_extreme(g, 3, 1), 7);
	assert_true(fabs(engine_mean(g, 1, 1) - 13.0 / 3) < 1e-12 && fabs(engine_mean(g, 4, 1) - 13.0 / 3) < 1e-12);
	assert_true(fabs(engine_variance(g, 4, 1) - 16.0 / 3) < 1e-12);
	assert_true(engine_quantile(g, 5, 1, 0) == 3 && engine_quantile(g, 5, 1, 1) == 7);
	assert_true(fabs(engine_quantile(g, 5, 1, 0.5) - 3) <= 3 * STATS_SKETCH_ERROR);
	assert_int_equal(engine_distinct(g, 6, 1), 2);
	assert_true(fabs(engine_mean(g, 7, 1) - 1.75 / 3) < 1e-15);
	assert_int_equal(engine_distinct_of((struct engine_group[]){ { g, 6, 0 }, { g, 6, 1 }, { g, 6, 1 } }, 3), 2);
}

static void every_aggregate_is_exact(void **state)
{
	struct engine_plan *plan = plan_of(&everything);

	(void)state;
	feed(plan, some, 5);
	check_everything(finish(plan));
	engine_plan_free(plan);
	/* Block by block is the same. */
	plan = plan_of(&everything);
	for (size_t i = 0; i < 5; i++)
		feed(plan, &some[i], 1);
	check_everything(finish(plan));
	engine_plan_free(plan);
	plan = plan_of(&everything);
	assert_int_equal(finish(plan)->count, 0);
	engine_plan_free(plan);
}

static struct buf saved(const struct row *rows, size_t n)
{
	struct engine_plan *plan = plan_of(&everything);
	struct buf out = BUF_INIT;

	if (n)
		feed(plan, rows, n);
	finish(plan);
	assert_int_equal(engine_plan_save(plan, &out), 0);
	engine_plan_free(plan);
	return out;
}

static int load(struct engine_plan *plan, const struct buf *part)
{
	struct unpack u = { .at = (uint8_t *)part->data, .end = (uint8_t *)part->data + part->len };
	int rc = engine_plan_load(plan, &u, NULL);

	if (rc == 0)
		assert_ptr_equal(u.at, u.end);
	return rc;
}

static void parts_are_merged(void **state)
{
	struct buf parts[] = { saved(some, 2), saved(NULL, 0), saved(some + 2, 3) };
	struct engine_plan *plan = plan_of(&everything);

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(load(plan, &parts[i]), 0);
	check_everything(finish(plan));
	engine_plan_free(plan);
	/* In the other order, and the plan has rows of its own. */
	plan = plan_of(&everything);
	feed(plan, some + 2, 3);
	assert_int_equal(load(plan, &parts[0]), 0);
	check_everything(finish(plan));
	engine_plan_free(plan);
	for (size_t i = 0; i < 3; i++)
		buf_release(&parts[i]);
}

/* A part of a query that differs in any way is refused. */
static void other_parts_are_refused(void **state)
{
	struct buf part = saved(some, 5);
	struct sonde_err err = SONDE_ERR_INIT;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct engine_query other = everything;
		struct engine_plan *plan;
		struct unpack u = { .at = (uint8_t *)part.data, .end = (uint8_t *)part.data + part.len };

		if (i == 0)
			other.name = "another";
		else if (i == 1)
			other.key_count = 0;
		else if (i == 2)
			other.aggregate_count = 7;
		else
			other.aggregates[2].op = ENGINE_MAX;
		plan = plan_of(&other);
		assert_int_equal(engine_plan_load(plan, &u, &err), -EBADMSG);
		assert_string_equal(err.text, "the part is damaged, or of another version of sonde");
		engine_plan_free(plan);
	}
	for (int i = 0; i < 2; i++) {
		struct unpack u = { .at = (uint8_t *)part.data, .end = (uint8_t *)part.data + part.len };
		struct engine_plan *plan;

		assert_int_equal(engine_plan_new(&plan, i ? &store_counter_schema : &store_io_schema, NULL), 0);
		if (!i)
			assert_int_equal(engine_plan_query(plan, &everything), 0);
		assert_int_equal(engine_plan_load(plan, &u, &err), -EBADMSG);
		engine_plan_free(plan);
	}
	buf_release(&part);
}

static void sums_are_held(void **state)
{
	static const struct engine_query q = { "sum"
					       "s",
		0, { 0 }, NONE, 2, { { ENGINE_SUM, VALUE }, { ENGINE_MOMENTS, VALUE } } };
	static const struct row high[] = { { 0, INT64_MAX, 0, 0 }, { 0, INT64_MAX, 0, 0 } },
				low[] = { { 0, -INT64_MAX, 0, 0 }, { 0, -INT64_MAX, 0, 0 }, { 0, -5, 0, 0 } };
	struct engine_plan *plan = plan_of(&q);

	(void)state;
	feed(plan, high, 2);
	assert_int_equal(engine_sum(finish(plan), 0, 0), INT64_MAX);
	assert_true(engine_mean(engine_plan_groups(plan, 0), 1, 0) == 0x1p51);
	engine_plan_free(plan);
	plan = plan_of(&q);
	feed(plan, low, 3);
	assert_int_equal(engine_sum(finish(plan), 0, 0), -INT64_MAX);
	engine_plan_free(plan);
	plan = plan_of(&q);
	feed(plan, low, 1);
	assert_int_equal(engine_sum(finish(plan), 0, 0), -INT64_MAX);
	assert_true(engine_mean(engine_plan_groups(plan, 0), 1, 0) == -0x1p51);
	engine_plan_free(plan);
}

/* Small keys index an array, others are hashed: around the bounds each key is a group of its own. */
static void keys_are_kept_apart(void **state)
{
	static const struct engine_query one = { "one", 1, { KEY }, NONE, 1, { { ENGINE_SUM, VALUE } } },
					 two = { "two", 2, { KEY, OTHER }, NONE, 1, { { ENGINE_SUM, VALUE } } };
	static const int64_t firsts[] = { STORE_NULL, -1, 0, 1, 1023, 1024, 65535, 65536, (1 << 22) - 1, 1 << 22,
		INT64_MAX },
			     seconds[] = { STORE_NULL, -1, 0, 1, 63, 64, 65, INT64_MAX };
	struct row rows[88];
	struct engine_plan *plan = plan_of(&one);
	const struct engine_groups *g;

	(void)state;
	for (int twice = 0; twice < 2; twice++)
		for (size_t i = 0; i < 11; i++)
			feed(plan, &(struct row){ firsts[i], 1 + (int64_t)i, 0, 0 }, 1);
	g = finish(plan);
	assert_int_equal(g->count, 11);
	for (size_t i = 0; i < 11; i++) {
		assert_int_equal(engine_key(g, i, 0), firsts[i]);
		assert_int_equal(engine_sum(g, 0, i), 2 * (int64_t)(i + 1));
	}
	engine_plan_free(plan);
	plan = plan_of(&two);
	for (size_t i = 0; i < 88; i++)
		rows[i] = (struct row){ firsts[i / 8], (int64_t)i, seconds[i % 8], 0 };
	feed(plan, rows, 88);
	feed(plan, rows, 88);
	g = finish(plan);
	assert_int_equal(g->count, 88);
	for (size_t i = 0; i < 88; i++) {
		assert_int_equal(engine_key(g, i, 0), firsts[i / 8]);
		assert_int_equal(engine_key(g, i, 1), seconds[i % 8]);
		assert_int_equal(engine_sum(g, 0, i), 2 * (int64_t)i);
	}
	engine_plan_free(plan);
}

static void filtered_rows_count_nowhere(void **state)
{
	static const struct engine_query q = { "filtered", 1, { KEY }, OTHER, 4,
		{ { ENGINE_COUNT, NONE }, { ENGINE_QUANTILES, VALUE }, { ENGINE_DISTINCT, VALUE },
				{ ENGINE_MAX, VALUE } } };
	static const struct row rows[] = { { 1, 10, 1, 0 }, { 1, 20, 0, 0 }, { 1, 30, STORE_NULL, 0 }, { 1, 5, -1, 0 },
		{ 2, 40, 0, 0 } };
	struct engine_plan *plan = plan_of(&q);
	const struct engine_groups *g;

	(void)state;
	feed(plan, rows, 5);
	g = finish(plan);
	assert_int_equal(engine_key(g, 0, 0), 1);
	assert_int_equal(engine_count(g, 0, 0), 2);
	assert_int_equal(engine_count(g, 1, 0), 2);
	assert_int_equal(engine_distinct(g, 2, 0), 2);
	assert_int_equal(engine_extreme(g, 3, 0), 10);
	for (size_t i = 1; i < g->count; i++) /* a group of filtered rows only is empty */
		assert_int_equal(engine_count(g, 0, i), 0);
	engine_plan_free(plan);
}

/* Up to so many groups have quantiles; all others still have their sums. */
static void many_groups_have_no_quantiles(void **state)
{
	static const struct engine_query q = { "man"
					       "y",
		1, { KEY }, NONE, 2, { { ENGINE_COUNT, NONE }, { ENGINE_QUANTILES, VALUE } } };
	const size_t block = 1000;

	(void)state;
	for (size_t more = 0; more < 2; more++) {
		struct engine_plan *plan = plan_of(&q);
		struct row *rows = calloc(block, sizeof(*rows));
		size_t left = ENGINE_SKETCHES_MAX + more, next = 0;
		const struct engine_groups *g;

		while (left) {
			size_t n = left < block ? left : block;

			for (size_t i = 0; i < n; i++)
				rows[i] = (struct row){ (int64_t)next++, 7, 0, 0 };
			feed(plan, rows, n);
			left -= n;
		}
		g = finish(plan);
		assert_int_equal(g->count, ENGINE_SKETCHES_MAX + more);
		assert_int_equal(g->has_no_quantiles, more == 1);
		assert_int_equal(engine_sketch(g, 1, 0) == NULL, more == 1);
		assert_int_equal(isnan(engine_quantile(g, 1, 0, 0.5)), more == 1);
		assert_int_equal(engine_count(g, 0, g->count - 1), 1);
		assert_false(g->is_over);
		free(rows);
		engine_plan_free(plan);
	}
}

static void fill_double(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	for (size_t i = 0; i < rows->count; i++)
		out[i] = rows->ints[VALUE][i] * *(const int64_t *)arg;
}

static void plans_have_bounds(void **state)
{
	static const int64_t factors[] = { 2, 3 };
	struct engine_query q = { "q", 0, { 0 }, NONE, 1, { { ENGINE_SUM, VALUE } } };
	struct engine_derive derive = { .fill = fill_double, .arg = &factors[0], .need_count = 1, .needs = { VALUE } };
	struct engine_plan *plan;

	(void)state;
	assert_int_equal(engine_plan_new(&plan, &store_counter_schema, NULL), 0);
	for (int i = 0; i < ENGINE_DERIVED_MAX; i++) {
		derive.arg = &factors[i % 2];
		assert_int_equal(engine_plan_derive(plan, &derive), STORE_COLUMNS_MAX + i);
	}
	assert_int_equal(engine_plan_derive(plan, &derive), -E2BIG);
	for (int i = 0; i < ENGINE_QUERIES_MAX; i++) {
		q.aggregates[0].column = STORE_COLUMNS_MAX + i % 2;
		assert_int_equal(engine_plan_query(plan, &q), i);
	}
	assert_int_equal(engine_plan_query(plan, &q), -E2BIG);
	feed(plan, some, 1);
	feed(plan, some + 2, 1);
	finish(plan);
	assert_int_equal(engine_sum(engine_plan_groups(plan, 0), 0, 0), 20);
	assert_int_equal(engine_sum(engine_plan_groups(plan, 1), 0, 0), 30);
	engine_plan_free(plan);
	engine_plan_free(NULL);
}

/* Numbers of every size survive packing, and reading never passes the end. */
static void packed_numbers_are_read_back(void **state)
{
	static const uint64_t unsigneds[] = { 0, 1, 127, 128, 16383, 16384, UINT32_MAX, INT64_MAX, UINT64_MAX };
	static const int64_t signeds[] = { 0, 1, -1, 63, 64, -64, -65, INT64_MAX, INT64_MIN };
	struct buf out = BUF_INIT;
	struct unpack u;

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		pack_uint(&out, unsigneds[i]);
		pack_int(&out, signeds[i]);
		pack_wide(&out, (engine_wide)signeds[i] * signeds[8 - i]);
		pack_real(&out, (double)signeds[i] / 3);
	}
	pack_text(&out, "text");
	pack_uint(&out, 3);
	pack_text(&out, "ab");
	for (size_t end = out.len; end <= out.len; end--) {
		u = (struct unpack){ .at = (uint8_t *)out.data, .end = (uint8_t *)out.data + end };
		for (size_t i = 0; i < 9; i++) {
			uint64_t a = unpack_uint(&u);
			int64_t b = unpack_int(&u);
			engine_wide c = unpack_wide(&u);
			double d = unpack_real(&u);

			if (u.is_bad)
				break;
			assert_true(a == unsigneds[i] && b == signeds[i] &&
					c == (engine_wide)signeds[i] * signeds[8 - i]);
			assert_true(d == (double)signeds[i] / 3);
		}
		if (end == out.len) {
			assert_true(unpack_is_text(&u, "text"));
			assert_int_equal(unpack_count(&u, 1), 3);
			assert_false(unpack_is_text(&u, "abc"));
			assert_false(u.is_bad);
			assert_ptr_equal(u.at, u.end);
			assert_int_equal(unpack_uint(&u), 0);
			assert_true(u.is_bad);
		}
		assert_true(u.at <= u.end);
	}
	/* A count of more than can follow. */
	buf_reset(&out);
	pack_uint(&out, 2);
	buf_add(&out, "1234567", 7);
	u = (struct unpack){ .at = (uint8_t *)out.data, .end = (uint8_t *)out.data + out.len };
	assert_int_equal(unpack_count(&u, 4), 0);
	assert_true(u.is_bad);
	u = (struct unpack){ .at = (uint8_t *)out.data, .end = (uint8_t *)out.data + out.len };
	assert_int_equal(unpack_count(&u, 3), 2);
	assert_false(u.is_bad);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_aggregate_is_exact),
		cmocka_unit_test(parts_are_merged),
		cmocka_unit_test(other_parts_are_refused),
		cmocka_unit_test(sums_are_held),
		cmocka_unit_test(keys_are_kept_apart),
		cmocka_unit_test(filtered_rows_count_nowhere),
		cmocka_unit_test(many_groups_have_no_quantiles),
		cmocka_unit_test(plans_have_bounds),
		cmocka_unit_test(packed_numbers_are_read_back),
	};

	return RUN_TESTS(tests);
}

/*
 * Boxes in boxes: what was accepted can always be drawn.
 */
#include "support.h"

#include "exchange/nest.h"

#include <stdlib.h>

static int add(struct nest *n, int64_t tid, int64_t ts_ns, int64_t dur_ns, int64_t *cut_ns)
{
	int64_t dur = dur_ns;
	int fit = nest_add(n, 1, tid, ts_ns, &dur);

	if (cut_ns)
		*cut_ns = dur;
	return fit;
}

static void boxes_fit_or_cross(void **state)
{
	struct nest n = NEST_INIT;
	int64_t dur_ns;

	(void)state;
	assert_int_equal(add(&n, 1, 0, 100000, NULL), NEST_INSIDE);
	assert_int_equal(add(&n, 1, 0, 50000, NULL), NEST_INSIDE);
	assert_int_equal(add(&n, 1, 50000, 50000, NULL), NEST_INSIDE); /* touches the one before, ends with the outer */
	assert_int_equal(add(&n, 1, 60000, 60000, NULL), NEST_CROSSES);
	assert_int_equal(add(&n, 2, 60000, 60000, NULL), NEST_INSIDE); /* another thread */
	assert_int_equal(add(&n, 1, 70000, 30000 + NEST_SLACK_NS, &dur_ns), NEST_CUT);
	assert_int_equal(dur_ns, 30000);
	assert_int_equal(add(&n, 1, 100000, 10, NULL), NEST_INSIDE);
	assert_int_equal(add(&n, 1, 100005, 0, NULL), NEST_INSIDE);
	assert_int_equal(add(&n, 1, 200000, INT64_MAX, NULL), NEST_INSIDE);
	assert_int_equal(add(&n, 1, 300000, INT64_MAX, NULL), NEST_INSIDE);
	nest_release(&n);
}

struct box {
	int64_t from, end;
};

static int by_start(const void *a, const void *b)
{
	const struct box *l = a, *r = b;

	if (l->from != r->from)
		return l->from < r->from ? -1 : 1;
	return (l->end < r->end) - (l->end > r->end);
}

/* Random boxes: of those accepted, any two are apart or one is inside the other. */
static void accepted_boxes_never_cross(void **state)
{
	enum { COUNT = 300 };

	(void)state;
	random_init();
	for (int round = 0; round < 50; round++) {
		struct nest n = NEST_INIT;
		struct box boxes[COUNT], kept[COUNT];
		size_t count = 0;

		for (int i = 0; i < COUNT; i++) {
			boxes[i].from = (int64_t)random_below(100000);
			boxes[i].end = boxes[i].from + (int64_t)random_below(20000);
		}
		qsort(boxes, COUNT, sizeof(*boxes), by_start);
		for (int i = 0; i < COUNT; i++) {
			int64_t dur_ns = boxes[i].end - boxes[i].from;
			int fit = nest_add(&n, 7, 7, boxes[i].from, &dur_ns);

			assert_true(boxes[i].end - boxes[i].from - dur_ns <= NEST_SLACK_NS);
			if (fit != NEST_CROSSES)
				kept[count++] = (struct box){ boxes[i].from, boxes[i].from + dur_ns };
		}
		for (size_t i = 0; i < count; i++)
			for (size_t j = i + 1; j < count; j++)
				assert_true(kept[j].from >= kept[i].end || kept[j].end <= kept[i].end);
		nest_release(&n);
	}
}

static void many_threads(void **state)
{
	struct nest n = NEST_INIT;

	(void)state;
	for (int64_t tid = 1; tid <= 5000; tid++)
		assert_int_equal(add(&n, tid, 10, 1000000, NULL), NEST_INSIDE);
	for (int64_t tid = 1; tid <= 5000; tid++)
		assert_int_equal(add(&n, tid, 20, 2000000, NULL), NEST_CROSSES);
	nest_release(&n);
}

static void out_of_memory_is_an_error(void **state)
{
	bool is_whole = false;

	(void)state;
	for (size_t good = 0; !is_whole; good++) {
		struct nest n = NEST_INIT;
		int fit = 0;

		alloc_fail_after(good);
		for (int64_t i = 0; fit >= 0 && i < 100; i++)
			fit = add(&n, 1 + i % 20, i, 1000 - i, NULL);
		is_whole = !alloc_has_failed();
		alloc_fail_never();
		assert_true(is_whole ? fit >= 0 : fit < 0);
		nest_release(&n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_fit_or_cross),
		cmocka_unit_test(accepted_boxes_never_cross),
		cmocka_unit_test(many_threads),
		cmocka_unit_test(out_of_memory_is_an_error),
	};

	return RUN_TESTS(tests);
}

/*
 * Covers against an oracle that colours a small piece of time point by point.
 */
#include "support.h"

#include "engine/interval-set.h"

#include <string.h>

enum { TIME = 3000, SETS = 5, EVENTS = 400 };

/* How many intervals of each set cover [t, t+1). */
static unsigned truth[SETS][TIME];
static struct interval_set covers[SETS];
static struct heap heap;

static struct engine_interval random_interval(void)
{
	int64_t from = (int64_t)random_below(TIME - 60);

	return (struct engine_interval){ .from = from, .to = from + (int64_t)random_below(60) };
}

/* Batches of several sizes, in and out of order, empty intervals among them. */
static void fill(unsigned set, bool is_counted)
{
	static struct engine_interval batch[EVENTS], spare[EVENTS];
	size_t left = random_below(EVENTS), n;

	for (; left; left -= n) {
		n = 1 + random_below(left);
		for (size_t i = 0; i < n; i++) {
			batch[i] = random_interval();
			for (int64_t t = batch[i].from; t < batch[i].to; t++)
				truth[set][t]++;
		}
		assert_int_equal((is_counted ? interval_set_count : interval_set_add)(&covers[set], &heap, batch, spare,
						 n),
				0);
	}
}

static void start(bool is_counted)
{
	memset(truth, 0, sizeof(truth));
	heap_init(&heap, SIZE_MAX);
	for (unsigned s = 0; s < SETS; s++) {
		covers[s] = (struct interval_set){ 0 };
		fill(s, is_counted);
	}
}

static void stop(void)
{
	for (unsigned s = 0; s < SETS; s++)
		interval_set_release(&covers[s]);
	heap_release(&heap);
}

/* What a sweep says of each point. */
static struct {
	uint64_t mask, active;
} seen[TIME];
static int64_t last_to;

static void see(void *arg, int64_t from, int64_t to, uint64_t mask, uint64_t active)
{
	(void)arg;
	assert_true(from < to && from >= last_to);
	last_to = to;
	for (int64_t t = from; t < to; t++) {
		seen[t].mask = mask;
		seen[t].active = active;
	}
}

static void sweep_all(void)
{
	struct engine_sweep_set sets[SETS];

	for (unsigned s = 0; s < SETS; s++)
		sets[s] = (struct engine_sweep_set){ .cover = &covers[s], .class = s };
	memset(seen, 0, sizeof(seen));
	last_to = 0;
	assert_int_equal(engine_sweep(sets, SETS, see, NULL), 0);
}

static void check_masks(bool is_counted)
{
	for (int t = 0; t < TIME; t++) {
		uint64_t mask = 0, active = 0;

		for (unsigned s = 0; s < SETS; s++) {
			mask |= truth[s][t] ? (uint64_t)1 << s : 0;
			active += truth[s][t];
		}
		assert_int_equal(seen[t].mask, mask);
		if (is_counted)
			assert_int_equal(seen[t].active, active);
	}
}

static void sweeps_are_right(void **state)
{
	(void)state;
	random_init();
	for (int round = 0; round < 200; round++) {
		start(round % 2);
		sweep_all();
		check_masks(round % 2);
		stop();
	}
}

static void unions_are_right(void **state)
{
	(void)state;
	for (int round = 0; round < 100; round++) {
		struct engine_sweep_set sets[2];
		int64_t want = 0;

		start(false);
		for (int t = 0; t < TIME; t++)
			want += truth[0][t] || truth[1][t];
		sets[0] = (struct engine_sweep_set){ .cover = &covers[0] };
		sets[1] = (struct engine_sweep_set){ .cover = &covers[1] };
		assert_int_equal(interval_set_ns(sets, 2), want);
		stop();
	}
}

/* Saved and loaded they are the same, and what is saved does not depend on how it was cut. */
static void saved_is_the_same(void **state)
{
	(void)state;
	for (int round = 0; round < 100; round++) {
		struct buf first = BUF_INIT, second = BUF_INIT;

		start(round % 2);
		for (unsigned s = 0; s < SETS; s++) {
			struct unpack u;

			buf_reset(&first);
			buf_reset(&second);
			assert_int_equal(interval_set_save(&first, &covers[s]), 0);
			interval_set_release(&covers[s]);
			u = (struct unpack){ .at = (uint8_t *)first.data, .end = (uint8_t *)first.data + first.len };
			assert_int_equal(interval_set_load(&u, &heap, &covers[s]), 0);
			assert_false(u.is_bad);
			assert_ptr_equal(u.at, u.end);
			assert_int_equal(interval_set_save(&second, &covers[s]), 0);
			assert_int_equal(first.len, second.len);
			assert_memory_equal(first.data, second.data, first.len);
		}
		sweep_all();
		check_masks(round % 2);
		stop();
		buf_release(&first);
		buf_release(&second);
	}
}

static void hostile_bytes_are_refused_or_harmless(void **state)
{
	(void)state;
	heap_init(&heap, SIZE_MAX);
	for (int round = 0; round < 5000; round++) {
		struct interval_set c = { 0 };
		struct engine_sweep_set set = { .cover = &c };
		uint8_t bytes[64];
		struct unpack u = { .at = bytes, .end = bytes + random_below(sizeof(bytes)) };

		random_bytes(bytes, sizeof(bytes));
		bytes[0] &= 15;
		bytes[1] &= 1;
		assert_int_equal(interval_set_load(&u, &heap, &c), 0);
		interval_set_ns(&set, 1);
		interval_set_release(&c);
	}
	heap_release(&heap);
}

/* With no budget chunks go to a file and are read from there. */
static void spilled_chunks_are_read_back(void **state)
{
	static struct engine_interval batch[ENGINE_RUN_INTERVALS], spare[ENGINE_RUN_INTERVALS];
	struct interval_set c = { 0 };
	struct engine_sweep_set set = { .cover = &c };
	int64_t at = 0, want = 0;

	(void)state;
	heap_init(&heap, 0);
	for (int round = 0; round < 60; round++) {
		for (size_t i = 0; i < ENGINE_RUN_INTERVALS; i++) {
			int64_t length = 1 + (int64_t)random_below(1000);

			at += 1000000 + (int64_t)random_below(1000);
			batch[i] = (struct engine_interval){ .from = at, .to = at + length };
			at += length;
			want += length;
		}
		assert_int_equal(interval_set_add(&c, &heap, batch, spare, ENGINE_RUN_INTERVALS), 0);
	}
	assert_true(heap.spilled > 0);
	assert_int_equal(interval_set_ns(&set, 1), want);
	interval_set_release(&c);
	heap_release(&heap);
}

static void lack_of_memory_is_told(void **state)
{
	struct engine_interval batch[1] = { { .from = 1, .to = 2 } }, spare[1];
	struct interval_set c = { 0 };
	struct engine_sweep_set set = { .cover = &c };

	(void)state;
	heap_init(&heap, SIZE_MAX);
	assert_int_equal(interval_set_add(&c, &heap, batch, spare, 1), 0);
	alloc_fail_after(1);
	assert_true(interval_set_ns(&set, 1) < 0);
	alloc_fail_never();
	assert_int_equal(interval_set_ns(&set, 1), 1);
	interval_set_release(&c);
	heap_release(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sweeps_are_right),
		cmocka_unit_test(unions_are_right),
		cmocka_unit_test(saved_is_the_same),
		cmocka_unit_test(hostile_bytes_are_refused_or_harmless),
		cmocka_unit_test(spilled_chunks_are_read_back),
		cmocka_unit_test(lack_of_memory_is_told),
	};

	return RUN_TESTS(tests);
}

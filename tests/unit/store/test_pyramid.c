/* Pyramids: what a visit shows at any resolution, against a plain walk of the same events; hostile bytes. */
#include "support.h"

#include "store/pyramid.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS 20000

struct truth {
	struct pyramid_slice slices[EVENTS];
	size_t count;
};

static struct truth truth;

/* Random slices that do not overlap, with now and then a long one. */
static void invent(void)
{
	int64_t at = 1000;

	truth.count = 1 + random_below(EVENTS);
	for (size_t i = 0; i < truth.count; i++) {
		struct pyramid_slice *s = &truth.slices[i];

		at += (int64_t)random_below(random_below(50) ? 200 : 100000);
		s->start_ns = at;
		s->dur_ns = (int64_t)random_below(random_below(50) ? 300 : 50000);
		s->name = (uint32_t)random_below(random_below(100) ? 5 : 100000);
		at += s->dur_ns;
	}
}

static struct pyramid *build(int *fd)
{
	struct pyramid_key key = { .kind = PYRAMID_SLICES, .what = 7, .process = 3, .tid = 4 };
	struct pyramid_writer *w;
	struct pyramid *p;
	int64_t lane;

	*fd = memfd_create("test", 0);
	assert_int_equal(pyramid_writer_open(&w, *fd, 42, NULL), 0);
	lane = pyramid_add_lane(w, &key);
	for (size_t i = 0; i < truth.count; i++)
		assert_int_equal(pyramid_add_slice(w, lane, &truth.slices[i]), 0);
	key.kind = PYRAMID_POINTS;
	lane = pyramid_add_lane(w, &key);
	for (int i = 0; i < 2000; i++) {
		struct pyramid_point point = { .ts_ns = i * 10, .value = i };

		assert_int_equal(pyramid_add_point(w, lane, &point), 0);
	}
	assert_int_equal(pyramid_writer_close(w, NULL), 0);
	assert_int_equal(pyramid_open(&p, *fd, NULL), 0);
	return p;
}

struct seen {
	uint64_t count;
	int64_t busy_ns, longest_ns;
	int64_t last_ns;
	int64_t resolution_ns;
};

static int on_node(void *arg, const struct pyramid_node *n)
{
	struct seen *s = arg;

	assert_true(n->end_ns - n->start_ns <= s->resolution_ns);
	assert_true(n->start_ns >= s->last_ns);
	s->last_ns = n->start_ns;
	s->count += n->count;
	s->busy_ns += n->busy_ns;
	s->longest_ns = n->longest_ns > s->longest_ns ? n->longest_ns : s->longest_ns;
	return 0;
}

static int on_slice(void *arg, const struct pyramid_slice *slice)
{
	struct seen *s = arg;

	assert_true(slice->start_ns >= s->last_ns);
	s->last_ns = slice->start_ns;
	s->count++;
	s->busy_ns += slice->dur_ns;
	s->longest_ns = slice->dur_ns > s->longest_ns ? slice->dur_ns : s->longest_ns;
	return 0;
}

static bool touches(const struct pyramid_slice *s, int64_t from_ns, int64_t to_ns)
{
	return s->start_ns < to_ns && (s->start_ns + s->dur_ns > from_ns || s->start_ns >= from_ns);
}

static void every_event_of_a_window(void **state)
{
	struct pyramid *p;
	int fd;

	random_init();
	invent();
	p = build(&fd);
	for (int round = 0; round < 200; round++) {
		int64_t end = truth.slices[truth.count - 1].start_ns + 1000;
		int64_t from = (int64_t)random_below((size_t)end), to = from + 1 + (int64_t)random_below((size_t)end);
		struct seen s = { .last_ns = INT64_MIN }, want = { .longest_ns = 0 };
		struct pyramid_visit v = { .from_ns = from,
			.to_ns = to,
			.arg = &s,
			.node = on_node,
			.slice = on_slice };
		struct pyramid_cursor c;
		const struct pyramid_slice *next;

		for (size_t i = 0; i < truth.count; i++)
			if (touches(&truth.slices[i], from, to))
				on_slice(&want, &truth.slices[i]);
		assert_int_equal(pyramid_visit(p, 0, &v), 0);
		assert_int_equal(s.count, want.count);
		assert_int_equal(s.busy_ns, want.busy_ns);
		assert_int_equal(s.longest_ns, want.longest_ns);
		pyramid_cursor_init(&c, p, 0, from, to);
		for (size_t i = 0; i < truth.count; i++) {
			if (!touches(&truth.slices[i], from, to))
				continue;
			next = pyramid_cursor_next(&c);
			assert_non_null(next);
			assert_int_equal(next->start_ns, truth.slices[i].start_ns);
			assert_int_equal(next->name, truth.slices[i].name);
		}
		assert_null(pyramid_cursor_next(&c));
	}
	pyramid_free(p);
	close(fd);
}

/* At any resolution, with neighbours merged or not, the whole run has the same events, time and longest. */
static void sums_hold_at_every_zoom(void **state)
{
	struct seen want = { .last_ns = INT64_MIN };
	struct pyramid *p;
	int fd;

	random_init();
	invent();
	p = build(&fd);
	for (size_t i = 0; i < truth.count; i++)
		on_slice(&want, &truth.slices[i]);
	for (int64_t resolution = 1, merged = 0; resolution < (int64_t)1 << 40;
			resolution *= merged ? 3 : 1, merged ^= 1) {
		struct seen s = { .last_ns = INT64_MIN, .resolution_ns = resolution };
		struct pyramid_visit v = { .from_ns = INT64_MIN,
			.to_ns = INT64_MAX,
			.resolution_ns = resolution,
			.merge_long_ns = merged ? 1000 : 0,
			.merge_gap_ns = merged ? 400 : 0,
			.arg = &s,
			.node = on_node,
			.slice = on_slice };

		assert_int_equal(pyramid_visit(p, 0, &v), 0);
		assert_int_equal(s.count, want.count);
		assert_int_equal(s.busy_ns, want.busy_ns);
		assert_int_equal(s.longest_ns, want.longest_ns);
	}
	pyramid_free(p);
	close(fd);
}

struct found {
	uint32_t name;
	uint64_t count;
};

static int on_found(void *arg, const struct pyramid_slice *s)
{
	struct found *f = arg;

	f->count += s->name == f->name;
	return 0;
}

static void names_are_found(void **state)
{
	struct pyramid *p;
	int fd;

	random_init();
	invent();
	p = build(&fd);
	for (int round = 0; round < 50; round++) {
		struct found f = { .name = truth.slices[random_below(truth.count)].name };
		struct pyramid_visit v = { .from_ns = INT64_MIN,
			.to_ns = INT64_MAX,
			.names = pyramid_name_bit(f.name),
			.arg = &f,
			.slice = on_found };
		uint64_t want = 0;

		for (size_t i = 0; i < truth.count; i++)
			want += truth.slices[i].name == f.name;
		assert_int_equal(pyramid_visit(p, 0, &v), 0);
		assert_int_equal(f.count, want);
	}
	pyramid_free(p);
	close(fd);
}

static int on_any(void *arg, const struct pyramid_slice *s)
{
	return 0;
}

/* Whatever the bytes say, opening and visiting end and touch nothing else. */
static int on_any_node(void *arg, const struct pyramid_node *n)
{
	return n->children ? PYRAMID_DEEPER : 0;
}

static void damaged_bytes(void **state)
{
	struct pyramid *p;
	uint8_t *bytes;
	struct stat st;
	int fd;

	random_init();
	invent();
	pyramid_free(build(&fd));
	assert_int_equal(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
	for (int round = 0; round < 300; round++) {
		int hurt = memfd_create("hurt", 0);
		size_t size = round % 3 ? (size_t)st.st_size : 1 + random_below((size_t)st.st_size);

		assert_int_equal(write(hurt, bytes, size), size);
		for (int i = 0; i < 20; i++) {
			uint64_t word = random_below(2) ? random_u64() : random_below((size_t)st.st_size);
			/* not the directory: that is checked by its hash */
			(void)!pwrite(hurt, &word, sizeof(word), 48 + (off_t)random_below(size / 2 + 1));
		}
		if (pyramid_open(&p, hurt, NULL) == 0) {
			struct pyramid_visit v = { .from_ns = INT64_MIN, .to_ns = INT64_MAX, .slice = on_any };
			struct pyramid_visit merging = { .from_ns = 0,
				.to_ns = INT64_MAX,
				.resolution_ns = 10000,
				.merge_long_ns = 1000,
				.merge_gap_ns = 400,
				.node = on_any_node,
				.slice = on_any };
			struct pyramid_cursor c;
			struct pyramid_point point;

			for (int i = 0; i < 20; i++)
				pyramid_point_beside(p, 1, (int64_t)random_below(20000), i % 2, &point);
			pyramid_visit(p, 0, &v);
			pyramid_visit(p, 0, &merging);
			pyramid_cursor_init(&c, p, 0, INT64_MIN, INT64_MAX);
			for (size_t i = 0; i < 10 * EVENTS && pyramid_cursor_next(&c); i++)
				;
			pyramid_free(p);
		}
		close(hurt);
	}
	free(bytes);
	close(fd);
}

static void points(void **state)
{
	struct pyramid_key key = { .kind = PYRAMID_POINTS };
	struct pyramid_writer *w;
	struct pyramid *p;
	const struct pyramid_lane *lanes;
	double sum = 0;
	size_t count;
	int fd = memfd_create("test", 0);

	assert_int_equal(pyramid_writer_open(&w, fd, 1, NULL), 0);
	pyramid_add_lane(w, &key);
	for (int i = 0; i < 1000; i++) {
		struct pyramid_point one = { .ts_ns = i * 10, .value = i % 7 - 3 };

		sum += one.value;
		assert_int_equal(pyramid_add_point(w, 0, &one), 0);
	}
	assert_int_equal(pyramid_writer_close(w, NULL), 0);
	assert_int_equal(pyramid_open(&p, fd, NULL), 0);
	lanes = pyramid_lanes(p, &count);
	assert_int_equal(count, 1);
	assert_int_equal(lanes[0].root.count, 1000);
	assert_true(lanes[0].root.min == -3 && lanes[0].root.max == 3 && lanes[0].root.sum == sum);
	assert_int_equal(pyramid_stamp(p), 1);
	for (int64_t ts_ns = -15; ts_ns < 10020;
			ts_ns++) { /* a brute-force look says which points are beside an instant */
		int64_t last = ts_ns > 9990 ? 9990 : (ts_ns - 1) / 10 * 10,
			first = ts_ns <= 0 ? 0 : (ts_ns + 9) / 10 * 10;
		struct pyramid_point point;

		assert_int_equal(pyramid_point_beside(p, 0, ts_ns, true, &point), ts_ns > 0);
		assert_true(ts_ns <= 0 || (point.ts_ns == last && point.value == (double)(last / 10 % 7 - 3)));
		assert_int_equal(pyramid_point_beside(p, 0, ts_ns, false, &point), ts_ns <= 9990);
		assert_true(ts_ns > 9990 || (point.ts_ns == first && point.value == (double)(first / 10 % 7 - 3)));
	}
	pyramid_free(p);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_of_a_window),
		cmocka_unit_test(sums_hold_at_every_zoom),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(damaged_bytes),
		cmocka_unit_test(points),
	};

	return RUN_TESTS(tests);
}

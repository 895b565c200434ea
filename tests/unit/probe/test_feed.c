/* Counters out of text: the right numbers under the right names, also when lines come and go. */
#include "sinks.h"

#include "probe/proc/procfile.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct feed_kind *kind_of(const char *prefix)
{
	const struct feed_kind *k = feed_kinds;
	while (strcmp(k->prefix, prefix) != 0)
		k++;
	return k;
}

static void parse(struct feed *f, struct counters *c, const char *text)
{
	struct buf b = BUF_INIT;
	buf_adds(&b, text);
	c->now_ns += 1000;
	feed_parse(f, c, &b);
	buf_release(&b);
}

static double last_of(const struct feed *f, const char *key, unsigned field)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->lines[i].key, key))
			return f->lines[i].counters[field].last;
	fail_msg("no line '%s'", key);
	return 0;
}

/* A device that appears between two others shifts nobody (SOFA's diskstat did). */
static void devices_come_and_go(void **state)
{
	struct made_sink sink;
	sink_make(&sink);
	struct counters c = { .sink = &sink.sink };
	struct feed f = { .kind = kind_of("disk"), .fd = -1 };
	parse(&f, &c, "   8 0 sda 10 0 100 5 20 0 200 7 0 9 12\n   8 16 sdc 1 0 8 1 1 0 8 1 0 1 1\n");
	parse(&f, &c,
			"   8 0 sda 11 0 102 5 20 0 200 7 3 9 12\n   8 8 sdb 1000 0 9000 1 1 0 9 1 0 1 1\n   8 16 sdc "
			"1 0 8 1 3 0 8 1 0 1 1\n");
	parse(&f, &c, "   8 16 sdc 1 0 8 1 4 0 8 1 0 1 1\n   8 0 sda 12 0 104 5 20 0 200 7 0 9 12\n");
	assert_true(last_of(&f, "sda", 0) == 2);         /* reads */
	assert_true(last_of(&f, "sda", 1) == 4 * 512.0); /* bytes read */
	assert_true(last_of(&f, "sdb", 0) == 0);         /* counts from its first reading */
	assert_true(last_of(&f, "sdc", 3) == 3);         /* writes */
	assert_int_equal(f.count, 3);
	feed_close(&f, &c);
	counters_release(&c);
	store_sink_close(&sink.sink, NULL);
	sink_remove(&sink);
}

static void idle_devices_are_left_out(void **state)
{
	struct made_sink sink;
	sink_make(&sink);
	struct counters c = { .sink = &sink.sink };
	struct feed f = { .kind = kind_of("disk"), .fd = -1 };
	parse(&f, &c, "   7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n   8 0 sda 10 0 100 5 20 0 200 7 0 9 12\n");
	assert_int_equal(f.count, 1);
	feed_close(&f, &c);
	counters_release(&c);
	store_sink_close(&sink.sink, NULL);
	sink_remove(&sink);
}

static void pairs_in_any_order(void **state)
{
	static const char *const texts[] = { "MemTotal:  100 kB\nMemFree:   50 kB\nMemAvailable: 60 kB\nOther: 1 kB\n",
		"Other: 1 kB\nMemAvailable: 60 kB\nMemFree:   50 kB\nMemTotal:  100 kB\n" };
	for (int i = 0; i < 2; i++) {
		struct made_sink sink;
		sink_make(&sink);
		struct counters c = { .sink = &sink.sink };
		struct feed f = { .kind = kind_of("memory"), .fd = -1 };
		parse(&f, &c, texts[i]);
		assert_true(f.pairs[0].last == 100 * 1024.0);
		assert_true(f.pairs[1].last == 50 * 1024.0);
		assert_true(f.pairs[2].last == 60 * 1024.0);
		assert_int_equal(f.pairs[3].name, 0); /* absent is not zero: it has no row at all */
		feed_close(&f, &c);
		counters_release(&c);
		store_sink_close(&sink.sink, NULL);
		sink_remove(&sink);
	}
}

static void nonsense_does_no_harm(void **state)
{
	struct made_sink sink;
	random_init();
	sink_make(&sink);
	struct counters c = { .sink = &sink.sink };
	for (const struct feed_kind *k = feed_kinds; k->prefix; k++) {
		struct feed f = { .kind = k, .fd = -1 };
		for (int i = 0; i < 300; i++) {
			char text[200];
			static const char some[] = "cpu0123 :\n  abc=total some sda 99 ";
			size_t n = random_below(sizeof(text));
			for (size_t at = 0; at < n; at++)
				text[at] = some[random_below(sizeof(some) - 1)];
			text[n] = '\0';
			parse(&f, &c, text);
		}
		feed_close(&f, &c);
	}
	counters_release(&c);
	store_sink_close(&sink.sink, NULL);
	sink_remove(&sink);
}

/* Written when they change, with the last reading of the old value; the end is always there. */
static void values_are_written_when_they_change(void **state)
{
	static const double values[] = { 5, 5, 5, 7, 7, 7 };
	struct made_sink sink;
	struct counter k;
	struct store_counter rows[8];
	sink_make(&sink);
	struct counters c = { .sink = &sink.sink };
	counter_init(&c, &k, "level", "bytes", false, STORE_NULL);
	for (size_t i = 0; i < 6; i++) {
		c.now_ns = (int64_t)(i + 1) * 10;
		counter_set(&c, &k, values[i]);
	}
	counter_finish(&c, &k);
	counters_release(&c);
	assert_int_equal(sink_rows(&sink, STORE_TABLE_COUNTER, rows, 8), 4);
	static const int64_t times[] = { 10, 30, 40, 60 };
	static const double wanted[] = { 5, 5, 7, 7 };
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(rows[i].ts_ns, times[i]);
		assert_true(rows[i].value == wanted[i]);
	}
	sink_remove(&sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_come_and_go),
		cmocka_unit_test(idle_devices_are_left_out),
		cmocka_unit_test(pairs_in_any_order),
		cmocka_unit_test(nonsense_does_no_harm),
		cmocka_unit_test(values_are_written_when_they_change),
	};
	return RUN_TESTS(tests);
}

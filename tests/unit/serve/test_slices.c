/* A window of very many events is drawn from a few of its nodes; what the eye can see of them stays true. */
#include "../support.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "model/lanes.h"
#include "serve/run-api.h"
#include "store/run-dir.h"
#include "store/sink.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS 400000
#define NAMES 5
#define LONG 3 /* bins: an event so long shows its name */
#define OWN 17 /* bins: one so long is an item for itself */
#define BINS 12000
#define ITEMS_MAX ((size_t)1 << 16)

struct event {
	int64_t start_ns, end_ns;
	uint32_t name;
	bool is_cell;
	double busy; /* of an item */
};

static struct event events[EVENTS], items[ITEMS_MAX];
static size_t item_count;
static char dir[] = "/var/tmp/sonde-slices-XXXXXX";
static struct run_api *run_api;

/* Short ones with pauses; now and then one that is up to a hundred or a thousand times as long, or several in a row. */
static int64_t next_length(bool is_after_long)
{
	size_t luck = random_below(is_after_long ? 20 : 1000);

	return 200 + (int64_t)random_below(2000) * (luck < 1 ? 1000 : luck < 15 ? 100 : 1);
}

static void make_run(void)
{
	static const char json[] = "{\"sonde_run\": 1, \"state\": \"complete\", \"name\": \"dense\"}";
	struct store_run run = STORE_RUN_INIT;
	struct store_sink sink;
	struct buf text = BUF_INIT;
	char path[64], name[] = "a";
	int64_t at = 0;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/run", dir);
	assert_int_equal(store_run_create(&run, path, "dense", NULL), 0);
	assert_int_equal(store_sink_open(&sink, run.tablesfd, NULL), 0);
	for (size_t i = 0; i < EVENTS; i++) {
		struct store_span row = store_span_nulls;

		name[0] = (char)('a' + random_below(NAMES));
		row.ts_ns = at;
		row.dur_ns = next_length(i && events[i - 1].end_ns - events[i - 1].start_ns > 20000);
		row.process = 1;
		row.pid = row.tid = 100;
		row.name = store_strings_of(&sink.strings, name);
		row.depth = row.is_open = 0;
		events[i] = (struct event){ at, at + row.dur_ns, model_lane_name(row.name, MODEL_LANE_SPAN), false, 1 };
		at = events[i].end_ns + (int64_t)random_below(800);
		store_sink_add(&sink, STORE_TABLE_SPAN, &row);
	}
	assert_int_equal(store_sink_close(&sink, NULL), 0);
	buf_adds(&text, json);
	assert_int_equal(store_run_write_json(run.dirfd, &text, NULL), 0);
	buf_release(&text);
	store_run_release(&run);
	assert_int_equal(run_api_open(&run_api, path, NULL), 0);
}

/* Asking, and reading the answer as view-slices.c says it is. */

struct question {
	char from[32], to[32], bin[32];
};

static const char *get(const void *arg, const char *name)
{
	const struct question *q = arg;

	return strcmp(name, "from") == 0             ? q->from
			: strcmp(name, "to") == 0    ? q->to
			: strcmp(name, "bin") == 0   ? q->bin
			: strcmp(name, "lanes") == 0 ? "0"
						     : NULL;
}

static uint64_t varint(const uint8_t **at)
{
	uint64_t v = 0;
	unsigned shift = 0;

	do
		v |= (uint64_t)(**at & 0x7f) << shift;
	while (shift += 7, *(*at)++ & 0x80);
	return v;
}

static void read_items(const uint8_t *at, int64_t from_ns, int64_t bin_ns)
{
	int64_t unit_ns = bin_ns / 8, units = 0;
	uint32_t count;

	memcpy(&count, at + 24 + 4, sizeof(count));
	assert_true(count <= ITEMS_MAX);
	item_count = count;
	at += 24 + 12;
	for (size_t i = 0; i < count; i++) {
		uint64_t head = varint(&at);

		units += (int64_t)(head >> 2);
		items[i] = (struct event){ .start_ns = from_ns + units * unit_ns, .is_cell = head & 3, .busy = 1 };
		if (head & 3) {
			units = (units / 8 + ((head & 3) == 2 ? (int64_t)varint(&at) : 1)) * 8;
			items[i].busy = *at++ / 255.0;
		} else {
			units += (int64_t)varint(&at);
		}
		items[i].end_ns = from_ns + units * unit_ns;
		items[i].name = (uint32_t)varint(&at);
	}
}

static void ask(int64_t from_ns, int64_t to_ns, int64_t bin_ns)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct question q;
	struct run_api_query query = { .get = get, .arg = &q };

	snprintf(q.from, sizeof(q.from), "%lld", (long long)from_ns);
	snprintf(q.to, sizeof(q.to), "%lld", (long long)to_ns);
	snprintf(q.bin, sizeof(q.bin), "%lld", (long long)bin_ns);
	assert_int_equal(run_api_respond(run_api, run_api_answer_find("slices"), &query, &out, NULL), 0);
	read_items((const uint8_t *)out.data, from_ns, bin_ns);
}

/* The item at an instant; NULL: none. */
static const struct event *item_at(int64_t ns)
{
	size_t low = 0, high = item_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (items[middle].end_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < item_count && items[low].start_ns <= ns ? &items[low] : NULL;
}

static double drawn_ns(void)
{
	double sum = 0;

	for (size_t i = 0; i < item_count; i++) {
		assert_true(items[i].end_ns > items[i].start_ns && items[i].busy > 0);
		assert_true(i == 0 || items[i].start_ns >= items[i - 1].end_ns);
		sum += (double)(items[i].end_ns - items[i].start_ns) * items[i].busy;
	}
	return sum;
}

static void check(int64_t from_ns, int64_t to_ns, int64_t bin_ns)
{
	double busy_ns = 0;

	ask(from_ns, to_ns, bin_ns);
	for (size_t i = 0; i < EVENTS; i++) {
		const struct event *e = &events[i], *item;
		int64_t length = e->end_ns - e->start_ns;

		if (e->start_ns < from_ns || e->end_ns > to_ns)
			continue;
		busy_ns += (double)length;
		if (length < LONG * bin_ns)
			continue;
		item = item_at(e->start_ns + length / 2);
		assert_non_null(item);
		assert_int_equal(item->name, e->name);
		if (length < OWN * bin_ns)
			continue;
		assert_false(item->is_cell);
		assert_true(llabs(item->start_ns - e->start_ns) <= bin_ns && llabs(item->end_ns - e->end_ns) <= bin_ns);
	}
	assert_true(fabs(drawn_ns() / busy_ns - 1) <
			0.1); /* a pixel has one colour: what shares it with a long event is hidden */
}

static void dense_windows_are_true(void **arg)
{
	int64_t duration_ns = run_api_duration_ns(run_api);

	(void)arg;
	for (int64_t bin_ns = 1 << 13; bin_ns < duration_ns / 500; bin_ns *= 2)
		for (int i = 0; i < 4; i++) {
			int64_t width_ns = BINS * bin_ns < duration_ns ? BINS * bin_ns : duration_ns;
			int64_t from_ns = (int64_t)random_below((size_t)(duration_ns - width_ns) + 1) / bin_ns * bin_ns;

			check(from_ns, from_ns + width_ns, bin_ns);
		}
}

static int set_up(void **arg)
{
	(void)arg;
	random_init();
	make_run();
	return 0;
}

static int tear_down(void **arg)
{
	(void)arg;
	run_api_free(run_api);
	return fs_remove_tree(AT_FDCWD, dir) < 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(dense_windows_are_true) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

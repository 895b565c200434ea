/* history: what grows is kept by the second, what ended is forgotten, and there is a bound to looks and series. */
#include "../support.h"

#include "live/scrape-history.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct live_history *begin(void)
{
	struct live_history *h;

	assert_int_equal(live_history_open(&h, NULL, NULL), 0);
	return h;
}

static void take(struct live_history *h, const char *name, const char *app, double value)
{
	const struct exposition_label label = { "app", app };

	live_history_add(h, name, &label, 1, value);
}

static void assert_shown(struct live_history *h, const char *want)
{
	struct buf out = BUF_INIT;
	struct json j;

	json_init(&j, &out, false);
	live_history_show(h, &j);
	assert_string_equal(out.data, want);
	buf_release(&out);
}

static void test_values(void **state)
{
	struct live_history *h = begin();

	for (int i = 0; i < 4; i++) {
		live_history_begin(h, 100 + 2 * i);
		take(h, "level", "a", i / 4.0);
		take(h, "frames_total", "a", i == 3 ? 1 : 10 * i); /* the last time it began anew */
		live_history_end(h);
	}
	assert_shown(h,
			"{\"every_s\":2,\"series\":[[\"level\",{\"app\":\"a\"},[0,0.25,0.5,0.75]],"
			"[\"frames_total\",{\"app\":\"a\"},[5,5,null]]]}");
	live_history_free(h);
}

static void test_end(void **state)
{
	struct live_history *h = begin();

	live_history_begin(h, 1);
	take(h, "x", "gone", 1);
	take(h, "x", "stays", 2);
	live_history_end(h);
	live_history_begin(h, 3);
	take(h, "x", "stays", 3);
	live_history_end(h);
	live_history_begin(h, 5);
	take(h, "x", "gone", 4); /* here again: nothing of its first life */
	take(h, "x", "stays", 5);
	live_history_end(h);
	assert_shown(h,
			"{\"every_s\":2,\"series\":[[\"x\",{\"app\":\"stays\"},[2,3,5]],"
			"[\"x\",{\"app\":\"gone\"},[4]]]}");
	live_history_free(h);
}

static void test_bounds(void **state)
{
	struct live_history *h = begin();
	struct buf out = BUF_INIT;
	struct json j;
	char app[32], long_name[2000];
	size_t shown = 0, numbers = 0;

	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	for (int look = 0; look < 3 * HISTORY_LOOKS; look++) {
		live_history_begin(h, look);
		take(h, long_name, "a", 1);
		for (int i = 0; i < (look < 3 * HISTORY_LOOKS - 2 ? 1 : HISTORY_SERIES_MAX + 10); i++) {
			snprintf(app, sizeof(app), "%d", i);
			take(h, "x", app, look);
		}
		live_history_end(h);
	}
	json_init(&j, &out, false);
	live_history_show(h, &j);
	for (const char *at = out.data; (at = strstr(at, "[\"x\"")); at++)
		shown++;
	for (const char *at = strstr(out.data, "},["); *at != ']'; at++)
		numbers += *at == ',';
	assert_int_equal(shown, HISTORY_SERIES_MAX);
	assert_int_equal(numbers, HISTORY_LOOKS);
	assert_null(strstr(out.data, "xx"));
	buf_release(&out);
	live_history_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_values), cmocka_unit_test(test_end),
		cmocka_unit_test(test_bounds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

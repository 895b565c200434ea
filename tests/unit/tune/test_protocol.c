/* protocol: the lines that scripts rely on, and an answer to everything else. */
#include "../support.h"

#include "base/buf.h"
#include "studies.h"
#include "tune/protocol.h"

#include <stdio.h>

static struct arena arena;
static struct tune_study study;
static struct tune_optimizer o;
static struct buf out;

static int set_up(void **state)
{
	arena_init(&arena);
	buf_init(&out, 0);
	return parse(&study, MIXED, &arena, NULL) || make(&o, &study, 7);
}

static int tear_down(void **state)
{
	tune_optimizer_release(&o);
	buf_release(&out);
	arena_release(&arena);
	return 0;
}

static const char *answer(const char *line)
{
	buf_reset(&out);
	assert_int_equal(tune_answer(&o, &study, NULL, line, strlen(line), &out, NULL), 0);
	return out.data;
}

static void ask_tell_and_best(void **state)
{
	assert_string_equal(answer("{\"ask\":1}\n"),
			"{\"id\":1,\"params\":{\"x\":0.5,\"n\":6,\"mode\":\"a\",\"sync\":\"FULL\",\"fast\":false}}\n");
	assert_string_equal(answer("{\"best\":true}"), "{\"params\":null,\"value\":null,\"lo\":null,\"hi\":null}\n");
	assert_string_equal(answer("{\"tell\":1,\"value\":1.25}"), "");
	assert_non_null(strstr(answer("{\"best\":true}"), "\"value\":1.25"));
	assert_non_null(strstr(answer("{\"ask\":2}"), "\"id\":3"));
	assert_string_equal(answer("{\"tell\":2,\"failed\":true}"), "");
	assert_string_equal(answer("{\"tell\":3,\"value\":null}"), ""); /* NaN in JSON: a failure */
	assert_true(o.trials[1].result.state == TUNE_FAILED && o.trials[2].result.state == TUNE_FAILED);
	assert_string_equal(answer("   \n"), "");
	answer("{\"ask\":1}");
	assert_string_equal(answer("{\"tell\":4,\"value\":2,\"answer\":true}"), "{\"told\":4}\n");
	answer("{\"ask\":2}");
	assert_non_null(strstr(answer("{\"open\":true}"), "{\"id\":5,\"params\":"));
	assert_non_null(strstr(answer("{\"open\":true}"), "{\"id\":6,\"params\":"));
	assert_non_null(strstr(answer("{\"open\":true}"), "}\n{\"end\":true}\n"));
	assert_null(strstr(answer("{\"open\":true}"), "\"id\":4,"));
}

/* As Python's json writes them. */
static void numbers_that_are_none_are_failures(void **state)
{
	static const char *const words[] = { "NaN", "Infinity", "-Infinity" };

	answer("{\"ask\":3}");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char line[100];

		snprintf(line, sizeof(line), "{\"tell\": %zu, \"why\": \"NaN \\\" NaN\", \"value\": %s}", i + 1,
				words[i]);
		assert_string_equal(answer(line), "");
		assert_int_equal(o.trials[i].result.state, TUNE_FAILED);
	}
	assert_non_null(strstr(answer("{\"what\": \"Infinity\"}"), "unknown request"));
	assert_non_null(strstr(answer("{\"tell\": NaN, \"value\": 1}"), "'tell' must be the id of a trial"));
}

static void own_trials_can_be_added(void **state)
{
	assert_string_equal(answer("{\"add\":{\"mode\":\"b\",\"x\":0.25,\"fast\":true}}"),
			"{\"id\":1,\"params\":{\"x\":0.25,\"n\":6,\"mode\":\"b\",\"k\":9,\"sync\":\"FULL\",\"fast\":"
			"true}}\n");
	assert_non_null(strstr(answer("{\"add\":{\"mode\":\"d\"}}"), "has no choice 'd'"));
	assert_non_null(strstr(answer("{\"add\":{\"z\":1}}"), "unknown parameter 'z'"));
	assert_non_null(strstr(answer("{\"add\":{\"x\":7}}"), "must be between 0 and 1"));
}

static void wrong_lines_are_answered(void **state)
{
	static const char *const wrong[] = { "nonsense", "[1]", "{}", "{\"ask\":0}", "{\"ask\":\"x\"}", "{\"ask\":1e9}",
		"{\"tell\":1}", "{\"tell\":9,\"value\":1}", "{\"tell\":\"a\",\"value\":1}", "{\"tell\":-1,\"value\":2}",
		"{\"add\":3}", "{\"tell\":1,\"value\":\"fast\"}", "{\"tell\":1,\"values\":[1,2]}" };

	answer("{\"ask\":1}");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		answer(wrong[i]);
		assert_memory_equal(out.data, "{\"error\":\"", 10);
		assert_true(out.data[out.len - 1] == '\n');
	}
	assert_true(o.count == 1 && o.trials[0].result.state == TUNE_PENDING);
}

static void any_bytes_are_answered(void **state)
{
	static const char good[] = "{\"tell\":1,\"values\":[1,2],\"limits\":{\"a\":3},\"repeats\":2}";

	random_init();
	for (int t = 0; t < 5000; t++) {
		char line[sizeof(good)];

		memcpy(line, good, sizeof(line));
		for (size_t n = 1 + random_below(4); n > 0; n--)
			line[random_below(sizeof(line) - 1)] = (char)random_u64();
		buf_reset(&out);
		assert_int_equal(tune_answer(&o, &study, NULL, line, sizeof(line) - 1, &out, NULL), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ask_tell_and_best, set_up, tear_down),
		cmocka_unit_test_setup_teardown(numbers_that_are_none_are_failures, set_up, tear_down),
		cmocka_unit_test_setup_teardown(own_trials_can_be_added, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_lines_are_answered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_bytes_are_answered, set_up, tear_down),
	};

	return RUN_TESTS(tests);
}

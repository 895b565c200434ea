/* config: every kind of value, what is refused and how it is said, where it stood in the file. */
#include "../support.h"

#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct values {
	const char *text;
	double real;
	int64_t whole, duration_ns;
	bool truth;
	int word;
	const char **list;
	const char *const *environment;
	int other;
};

static struct arena arena = ARENA_INIT;
static const char *const words[] = { "small", "large", "huge", NULL };

static int take_other(struct config_reader *r, yaml_node_t *value, void *into)
{
	struct values *v = into;

	v->other = *(int *)r->context + (int)config_line(value);
	return 0;
}

static int take_environment(struct config_reader *r, yaml_node_t *value, void *into)
{
	return config_take_environment(r, value, &((struct values *)into)->environment);
}

static const struct config_key keys[] = {
	{ "text", CONFIG_TEXT, offsetof(struct values, text) },
	{ "real", CONFIG_REAL, offsetof(struct values, real) },
	{ "whole", CONFIG_WHOLE, offsetof(struct values, whole), .min = 2 },
	{ "bounded", CONFIG_WHOLE, offsetof(struct values, whole), .min = -3, .max = 5 },
	{ "truth", CONFIG_TRUTH, offsetof(struct values, truth) },
	{ "duration", CONFIG_DURATION, offsetof(struct values, duration_ns) },
	{ "word", CONFIG_WORD, offsetof(struct values, word), .words = words },
	{ "list", CONFIG_LIST, offsetof(struct values, list) },
	{ "other", CONFIG_OTHER, .take = take_other },
	{ "ignored", CONFIG_OTHER },
	{ "environment", CONFIG_OTHER, .take = take_environment },
	{ NULL },
};

static struct values values;

static int take(struct config_reader *r, yaml_node_t *root)
{
	return config_take_map(r, root, keys, NULL, &values);
}

static int parse(const char *text, struct sonde_err *err)
{
	int context = 100;
	struct config_reader r = { .path = "f.yml",
		.arena = &arena,
		.err = err,
		.what = "a file",
		.context = &context };

	values = (struct values){ .word = -1 };
	return config_parse(&r, text, strlen(text), take);
}

static void accept(const char *text)
{
	struct sonde_err err = SONDE_ERR_INIT;

	if (parse(text, &err) < 0)
		fail_msg("%s: %s", text, err.text);
}

static void assert_refused(const char *text, const char *error, const char *hint)
{
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(parse(text, &err), -EINVAL);
	assert_string_equal(err.text, error);
	assert_string_equal(err.hint, hint);
}

static void test_texts_and_numbers(void **state)
{
	accept("text: some thing\nreal: -2.5e3\nwhole: 2\nother: x\nignored: [1, {a: b}]\n");
	assert_string_equal(values.text, "some thing");
	assert_true(values.real == -2500);
	assert_int_equal(values.whole, 2);
	assert_int_equal(values.other, 104);
	accept("whole: 9000000000000000\nreal: +.5\ntext: ''\n");
	assert_int_equal(values.whole, 9000000000000000);
	assert_true(values.real == 0.5);
	assert_string_equal(values.text, "");
	accept("whole: 9223372036854775807\ntext: null\n");
	assert_true(values.whole == INT64_MAX);
	assert_string_equal(values.text, "null");
	accept("bounded: -3\n");
	assert_int_equal(values.whole, -3);
	accept("bounded: 5\n");
	assert_int_equal(values.whole, 5);
	accept("whole: null\ntruth: ~\n");
	assert_int_equal(values.whole, 0);
	assert_false(values.truth);
	accept("whole: 3e2\ntext: 5\n");
	assert_int_equal(values.whole, 300);
	assert_string_equal(values.text, "5");
}

static void test_wrong_numbers(void **state)
{
	assert_refused("text: [a]\n", "f.yml:1: 'text' must be a string", "");
	assert_refused("text: \"a\\0b\"\n", "f.yml:1: 'text' must be a string", "");
	assert_refused("\nreal: abc\n", "f.yml:2: 'real' must be a number", "");
	assert_refused("real: '5'\n", "f.yml:1: 'real' must be a number", "");
	assert_refused("real: inf\n", "f.yml:1: 'real' must be a number", "");
	assert_refused("real: 0x10\n", "f.yml:1: 'real' must be a number", "");
	assert_refused("real: 1e999\n", "f.yml:1: 'real' must be a number", "");
	assert_refused("real: 1.2.3\n", "f.yml:1: 'real' must be a number", "");
	assert_refused("real: e\n", "f.yml:1: 'real' must be a number", "");
	assert_refused("real:\n", "f.yml:1: 'real' must be a number", "");
	assert_refused("whole: 2.5\n", "f.yml:1: 'whole' must be an integer", "");
	assert_refused("whole: 9.1e15\n", "f.yml:1: 'whole' must be an integer", "");
	assert_refused("whole: 9223372036854775808\n", "f.yml:1: 'whole' must be an integer", "");
	assert_refused("whole: '5'\n", "f.yml:1: 'whole' must be an integer", "");
	assert_refused("whole: [5]\n", "f.yml:1: 'whole' must be an integer", "");
	assert_refused("bounded: -4\n", "f.yml:1: 'bounded' must be at least -3", "");
	assert_refused("bounded: 6\n", "f.yml:1: 'bounded' must be at most 5", "");
	assert_refused("whole: 1\n", "f.yml:1: 'whole' must be at least 2", "");
}

static void test_truths(void **state)
{
	static const char *const yes[] = { "true", "yes", "on", "True", "YES" },
				 *const no[] = { "false", "no", "off", "Off", "FALSE" };
	char text[64];

	for (size_t i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), "truth: %s\n", yes[i]);
		accept(text);
		assert_true(values.truth);
		snprintf(text, sizeof(text), "truth: %s\n", no[i]);
		accept(text);
		assert_false(values.truth);
	}
	assert_refused("truth: 1\n", "f.yml:1: 'truth' must be true or false", "");
	assert_refused("truth: {}\n", "f.yml:1: 'truth' must be true or false", "");
}

static void test_durations(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = { { "2s", 2000000000 }, { "1.5ms", 1500000 }, { "3us", 3000 }, { "2m", 120000000000 },
		{ "2min", 120000000000 }, { "1h", 3600000000000 }, { "0s", 0 } };
	static const char *const bad[] = { "5", "-1s", "s", "1d", "1 s", "1e10s", "[1s]", "1sx" };
	char text[64];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(text, sizeof(text), "duration: %s\n", good[i].text);
		accept(text);
		assert_int_equal(values.duration_ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "duration: %s\n", bad[i]);
		assert_refused(text, "f.yml:1: 'duration' must be a duration with a unit, such as 30s, 500ms or 10m",
				"");
	}
}

static void test_words(void **state)
{
	accept("word: small\n");
	assert_int_equal(values.word, 0);
	accept("word: huge\n");
	assert_int_equal(values.word, 2);
	assert_refused("word: hug\n", "f.yml:1: invalid word 'hug' (supported: small, large, huge)",
			"did you mean 'huge'?");
	assert_refused("word: zzzzzz\n", "f.yml:1: invalid word 'zzzzzz' (supported: small, large, huge)", "");
	assert_refused("word: [x]\n", "f.yml:1: 'word' must be one of small, large, huge", "");
}

static void test_lists(void **state)
{
	accept("list: program 'an argument' x\n");
	assert_string_equal(values.list[0], "program");
	assert_string_equal(values.list[1], "an argument");
	assert_string_equal(values.list[2], "x");
	assert_null(values.list[3]);
	accept("list: [a b, '', 3]\n");
	assert_string_equal(values.list[0], "a b");
	assert_string_equal(values.list[1], "");
	assert_string_equal(values.list[2], "3");
	assert_null(values.list[3]);
	accept("list: []\n");
	assert_null(values.list[0]);
	assert_refused("list: {a: b}\n", "f.yml:1: 'list' must be a list of strings", "");
	assert_refused("list:\n - a\n - [b]\n", "f.yml:3: 'list' must be a list of strings", "");
	struct sonde_err err = SONDE_ERR_INIT;
	assert_int_equal(parse("\nlist: \"a 'b\"\n", &err), -EINVAL);
	assert_non_null(strstr(err.text, "f.yml:2: 'list': "));
}

static void test_keys(void **state)
{
	assert_refused("texd: a\n", "f.yml:1: unknown key 'texd' in a file", "did you mean 'text'?");
	assert_refused("qqqqqqq: a\n", "f.yml:1: unknown key 'qqqqqqq' in a file", "");
	assert_refused("text: a\nreal: 1\ntext: b\n", "f.yml:3: duplicate key 'text'", "");
	assert_refused("[a]: b\n", "f.yml:1: a key must be a string", "");
	assert_refused("- a\n", "f.yml:1: a file must be a mapping (key: value)", "");
	assert_refused("", "f.yml: the file is empty", "");
	assert_refused("# nothing\n", "f.yml: the file is empty", "");
	struct sonde_err err = SONDE_ERR_INIT;
	assert_int_equal(parse("text: a\n- b\n", &err), -EINVAL);
	assert_int_equal(strncmp(err.text, "f.yml:2: ", 9), 0);
}

static void test_merges(void **state)
{
	accept("ignored: &a {text: merged, real: 2, unknown: 1}\n<<: *a\ntext: own\n");
	assert_string_equal(values.text, "own");
	assert_true(values.real == 2);
	accept("<<: {text: outer, <<: {text: inner, real: 3}}\n");
	assert_string_equal(values.text, "outer");
	assert_true(values.real == 3);
	assert_refused("<<: 5\n", "f.yml:1: a file must be a mapping (key: value)", "");
	assert_refused("ignored: &a\n  <<: *a\n<<: *a\n", "f.yml:1: too many merges (<<) within each other (maximum 8)",
			"");
	accept("<<: {<<: {<<: {<<: {<<: {<<: {<<: {<<: {real: 9}}}}}}}}\n");
	assert_true(values.real == 9);
}

static void test_environment(void **state)
{
	accept("environment: {A: b, C: '', D: 'x=y'}\n");
	assert_string_equal(values.environment[0], "A=b");
	assert_string_equal(values.environment[1], "C=");
	assert_string_equal(values.environment[2], "D=x=y");
	assert_null(values.environment[3]);
	accept("environment: {}\n");
	assert_null(values.environment[0]);
	assert_refused("environment: [A]\n", "f.yml:1: 'environment' must be a mapping (NAME: value)", "");
	assert_refused("environment:\n  A=B: c\n", "f.yml:2: invalid environment variable (expected NAME: value)", "");
	assert_refused("environment: {'': c}\n", "f.yml:1: invalid environment variable (expected NAME: value)", "");
	assert_refused("environment: {A: [c]}\n", "f.yml:1: invalid environment variable (expected NAME: value)", "");
	assert_refused("environment: {[A]: c}\n", "f.yml:1: invalid environment variable (expected NAME: value)", "");
}

static int take_nodes(struct config_reader *r, yaml_node_t *root)
{
	yaml_node_t *list = config_find(r, root, "b");

	assert_null(config_find(r, root, "c"));
	assert_null(config_find(r, list, "b"));
	assert_null(config_item(r, root, 0));
	assert_string_equal(config_text(config_item(r, list, 0)), "x");
	assert_string_equal(config_text(config_item(r, list, 1)), "y");
	assert_null(config_item(r, list, 2));
	assert_null(config_text(list));
	assert_int_equal(config_line(config_item(r, list, 1)), 4);
	assert_int_equal(config_take_map(r, list, keys, "the list", &values), -EINVAL);
	return 7;
}

static void test_nodes(void **state)
{
	static const char text[] = "a: 1\nb:\n - x\n - y\n";
	struct sonde_err err = SONDE_ERR_INIT;
	struct config_reader r = { .path = "f.yml", .arena = &arena, .err = &err };

	assert_int_equal(config_parse(&r, text, strlen(text), take_nodes), 7);
	assert_string_equal(err.text, "f.yml:3: the list must be a mapping (key: value)");
	assert_null(r.document);
}

static void test_files(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	char path[] = "/tmp/sonde-test-config.XXXXXX";
	int context = 0, fd = mkstemp(path);
	struct config_reader r = { .path = path, .arena = &arena, .err = &err, .context = &context };

	assert_int_equal(write(fd, "text: from a file\n", 18), 18);
	assert_int_equal(config_load(&r, take), 0);
	assert_string_equal(values.text, "from a file");
	assert_int_equal(ftruncate(fd, (off_t)CONFIG_BYTES_MAX + 1), 0);
	assert_true(config_load(&r, take) < 0);
	close(fd);
	unlink(path);
	assert_int_equal(config_load(&r, take), -ENOENT);
}

static int tear_down(void **state)
{
	arena_release(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_and_numbers),
		cmocka_unit_test(test_wrong_numbers),
		cmocka_unit_test(test_truths),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_merges),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}

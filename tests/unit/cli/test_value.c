/*
 * Sizes, durations and numbers: units, fractions and the edges of their types.
 */
#include "cli/cli.h"

#include "../support.h"
#include "base/quantity.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *text;
	uint64_t bytes;
} good_sizes[] = {
	{ "0", 0 },
	{ "64", 64 },
	{ "64B", 64 },
	{ "1K", 1024 },
	{ "1k", 1024 },
	{ "1KiB", 1024 },
	{ "64M", 64 << 20 },
	{ "1.5G", UINT64_C(3) << 29 },
	{ "0.5K", 512 },
	{ "1.K", 1024 },
	{ "2TiB", UINT64_C(2) << 40 },
	{ "9223372036854775807", INT64_MAX },
};

static void sizes_are_read(void **state)
{
	for (size_t i = 0; i < sizeof(good_sizes) / sizeof(*good_sizes); i++) {
		struct sonde_err err = SONDE_ERR_INIT;
		uint64_t bytes = 1;

		assert_int_equal(parse_size(good_sizes[i].text, &bytes, &err), 0);
		assert_int_equal(bytes, good_sizes[i].bytes);
	}
}

static void bad_sizes_are_refused(void **state)
{
	static const char *const bad[] = { "", "x", "-1", "+1", "1X", "1 K", "1KB", "K", ".5K", "1..5K", "0x10", "1e3",
		" 1", "1K ", NULL };
	uint64_t bytes = 77;

	for (size_t i = 0; bad[i]; i++)
		assert_int_equal(parse_size(bad[i], &bytes, NULL), -EINVAL);
	assert_int_equal(parse_size("9223372036854775808", &bytes, NULL), -ERANGE);
	assert_int_equal(parse_size("99999999999999999999999", &bytes, NULL), -ERANGE);
	assert_int_equal(parse_size("8388608T", &bytes, NULL), -ERANGE);
	assert_int_equal(bytes, 77);
}

static const struct {
	const char *text;
	int64_t ns;
} good_durations[] = {
	{ "0", 0 },
	{ "0s", 0 },
	{ "7ns", 7 },
	{ "250us", 250000 },
	{ "250µs", 250000 },
	{ "5ms", 5000000 },
	{ "10s", INT64_C(10000000000) },
	{ "0.1s", 100000000 },
	{ "1.5m", INT64_C(90000000000) },
	{ "2min", INT64_C(120000000000) },
	{ "1h", INT64_C(3600000000000) },
	{ "1d", INT64_C(86400000000000) },
	{ "0.000000001s", 1 },
	{ "0.0000000019s", 1 },
};

static void durations_are_read(void **state)
{
	for (size_t i = 0; i < sizeof(good_durations) / sizeof(*good_durations); i++) {
		int64_t ns = 1;

		assert_int_equal(parse_duration(good_durations[i].text, &ns, NULL), 0);
		assert_int_equal(ns, good_durations[i].ns);
	}
}

static void bad_durations_are_refused(void **state)
{
	static const char *const bad[] = { "", "s", "10", "-1s", "10S", "10 s", "1.5", "1m30s", NULL };
	int64_t ns = 77;

	for (size_t i = 0; bad[i]; i++)
		assert_int_equal(parse_duration(bad[i], &ns, NULL), -EINVAL);
	assert_int_equal(parse_duration("106752d", &ns, NULL), -ERANGE);
	assert_int_equal(ns, 77);
}

static void seconds_need_no_unit(void **state)
{
	struct holder {
		int64_t ns;
	} holder = { 0 };
	struct cli_option option = { 0, "t", "TIME", CLI_SECONDS(struct holder, ns) };
	struct arena arena = ARENA_INIT;

	assert_int_equal(value_set(&option, "10", &holder, &arena, NULL), 0);
	assert_true(holder.ns == INT64_C(10000000000));
	assert_int_equal(value_set(&option, "0.5", &holder, &arena, NULL), 0);
	assert_int_equal(holder.ns, 500000000);
	assert_int_equal(value_set(&option, "5ms", &holder, &arena, NULL), 0);
	assert_int_equal(holder.ns, 5000000);
	assert_int_equal(value_set(&option, "5x", &holder, &arena, NULL), -EINVAL);
	assert_int_equal(value_set(&option, "", &holder, &arena, NULL), -EINVAL);
	assert_int_equal(value_set(&option, "99999999999", &holder, &arena, NULL), -ERANGE);
	arena_release(&arena);
}

static void refusals_say_the_form(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	uint64_t bytes;
	int64_t ns;

	parse_size("many", &bytes, &err);
	assert_string_equal(err.text,
			"invalid size 'many': expected a number of bytes, or one with K, M, G or T (\"64M\")");
	parse_duration("10", &ns, &err);
	assert_string_equal(err.text,
			"invalid duration '10': expected a number with ns, us, ms, s, m, h or d (\"10s\")");
	parse_size("8388608T", &bytes, &err);
	assert_string_equal(err.text, "'8388608T' is too large");
}

struct number {
	int64_t value;
};

static int set_number(int64_t min, int64_t max, const char *text, int64_t *value, struct sonde_err *err)
{
	struct cli_option option = { 0, "n", "N", CLI_INT(struct number, value), .min = min, .max = max };
	struct arena arena = ARENA_INIT;
	struct number number = { 77 };
	int rc = value_set(&option, text, &number, &arena, err);

	*value = number.value;
	arena_release(&arena);
	return rc;
}

static void numbers_have_limits(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	int64_t v;

	assert_int_equal(set_number(0, 0, "9223372036854775807", &v, &err), 0);
	assert_true(v == INT64_MAX);
	assert_int_equal(set_number(0, 0, "9223372036854775808", &v, &err), -ERANGE);
	assert_int_equal(set_number(0, 0, "-1", &v, &err), -ERANGE);
	assert_string_equal(err.text, "'-1' is out of range: must be 0 or more");
	assert_int_equal(v, 77);
	assert_int_equal(set_number(INT64_MIN, INT64_MAX, "-9223372036854775808", &v, &err), 0);
	assert_true(v == INT64_MIN);
	assert_int_equal(set_number(1, 5, "5", &v, &err), 0);
	assert_int_equal(set_number(1, 5, "6", &v, &err), -ERANGE);
	assert_string_equal(err.text, "'6' is out of range: must be 1 to 5");
	assert_int_equal(set_number(1, 5, "+3", &v, &err), 0);
}

static void numbers_are_whole_and_decimal(void **state)
{
	static const char *const bad[] = { "", "-", "x", "1x", "0x1", "1.5", " 1", "--1", NULL };
	int64_t v;

	for (size_t i = 0; bad[i]; i++)
		assert_int_equal(set_number(INT64_MIN, INT64_MAX, bad[i], &v, NULL), -EINVAL);
	assert_int_equal(set_number(0, 0, "010", &v, NULL), 0);
	assert_int_equal(v, 10);
}

static void lists_have_no_empty_words(void **state)
{
	struct holder {
		struct cli_list list;
	} holder = { 0 };
	struct cli_option option = { 0, "l", "L", CLI_WORDS(struct holder, list) };
	struct arena arena = ARENA_INIT;
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(value_set(&option, "a,b", &holder, &arena, &err), 0);
	assert_int_equal(holder.list.count, 2);
	assert_int_equal(value_set(&option, "", &holder, &arena, &err), -EINVAL);
	assert_int_equal(value_set(&option, "a,,b", &holder, &arena, &err), -EINVAL);
	assert_int_equal(value_set(&option, "a,", &holder, &arena, &err), -EINVAL);
	assert_string_equal(err.text, "'a,' has an empty item");
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_read),
		cmocka_unit_test(bad_sizes_are_refused),
		cmocka_unit_test(durations_are_read),
		cmocka_unit_test(bad_durations_are_refused),
		cmocka_unit_test(seconds_need_no_unit),
		cmocka_unit_test(refusals_say_the_form),
		cmocka_unit_test(numbers_have_limits),
		cmocka_unit_test(numbers_are_whole_and_decimal),
		cmocka_unit_test(lists_have_no_empty_words),
	};

	return RUN_TESTS(tests);
}

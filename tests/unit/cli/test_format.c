/*
 * Human formats: three digits, the right unit at every border.
 */
#include "result/term.h"

#include "../support.h"

static const struct {
	uint64_t value;
	const char *text;
} bytes[] = {
	{ 0, "0 B" },
	{ 1, "1 B" },
	{ 1023, "1023 B" },
	{ 1024, "1.00 KiB" },
	{ 1536, "1.50 KiB" },
	{ 10240, "10.0 KiB" },
	{ 102400, "100 KiB" },
	{ 1048064, "1.00 MiB" },
	{ 1048576, "1.00 MiB" },
	{ UINT64_C(3) << 29, "1.50 GiB" },
	{ UINT64_C(5) << 40, "5.00 TiB" },
	{ UINT64_MAX, "16777216 TiB" },
};

static const struct {
	int64_t value;
	const char *text;
} durations[] = {
	{ 0, "0 ns" },
	{ 999, "999 ns" },
	{ 1000, "1.00 us" },
	{ 1234567, "1.23 ms" },
	{ 999499, "999 us" },
	{ 999500, "1.00 ms" },
	{ 999999999, "1.00 s" },
	{ 12345678901, "12.3 s" },
	{ 99900000000, "99.9 s" },
	{ 100000000000, "1 min 40 s" },
	{ INT64_C(7500) * 1000000000, "2 h 05 min" },
	{ INT64_C(90000) * 1000000000, "1 d 01 h" },
	{ -1500, "-1.50 us" },
	{ INT64_MIN, "-106751 d 23 h" },
};

static const struct {
	uint64_t value;
	const char *text;
} counts[] = {
	{ 0, "0" },
	{ 999, "999" },
	{ 1000, "1.00 k" },
	{ 12345, "12.3 k" },
	{ 999499, "999 k" },
	{ 999500, "1.00 M" },
	{ 4560000, "4.56 M" },
	{ UINT64_C(7000000000), "7.00 G" },
	{ UINT64_MAX, "18446744 T" },
};

static void bytes_are_shown(void **state)
{
	char text[TERM_TEXT];

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++)
		assert_string_equal(term_bytes(text, bytes[i].value), bytes[i].text);
}

static void durations_are_shown(void **state)
{
	char text[TERM_TEXT];

	for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++)
		assert_string_equal(term_ns(text, durations[i].value), durations[i].text);
}

static void counts_are_shown(void **state)
{
	char text[TERM_TEXT];

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		assert_string_equal(term_count(text, counts[i].value), counts[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_shown),
		cmocka_unit_test(durations_are_shown),
		cmocka_unit_test(counts_are_shown),
	};

	return RUN_TESTS(tests);
}

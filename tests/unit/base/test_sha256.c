/* sha256: the digests of FIPS 180-4's examples, however the bytes come in. */
#include "../support.h"

#include "base/sha256.h"

#include <string.h>

static void digest(const char *bytes, size_t n, size_t step, char text[SHA256_TEXT_BYTES])
{
	struct sha256 s;

	sha256_init(&s);
	for (size_t at = 0; at < n; at += step)
		sha256_add(&s, bytes + at, n - at < step ? n - at : step);
	sha256_text(&s, text);
}

static void test_known_digests(void **state)
{
	static const struct {
		const char *bytes, *want;
	} rows[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
				"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	char text[SHA256_TEXT_BYTES];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		digest(rows[i].bytes, strlen(rows[i].bytes), 7, text);
		assert_string_equal(text, rows[i].want);
	}
}

/* Lengths around the block's end, in pieces of every size, against the whole at once. */
static void test_pieces(void **state)
{
	char bytes[200], whole[SHA256_TEXT_BYTES], parts[SHA256_TEXT_BYTES];

	memset(bytes, 'x', sizeof(bytes));
	for (size_t n = 50; n < 140; n++)
		for (size_t step = 1; step < 70; step += 9) {
			digest(bytes, n, sizeof(bytes), whole);
			digest(bytes, n, step, parts);
			assert_string_equal(parts, whole);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_known_digests), cmocka_unit_test(test_pieces) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

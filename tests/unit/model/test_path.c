/*
 * Joining and cleaning paths by their text.
 */
#include "support.h"

#include "model/run-model.h"

#include <string.h>

static const struct {
	const char *base, *name, *want;
} cases[] = {
	{ NULL, "/etc/passwd", "/etc/passwd" },
	{ NULL, "/", "/" },
	{ NULL, "//", "/" },
	{ NULL, "/.", "/" },
	{ NULL, "/./", "/" },
	{ NULL, "//a///b//", "/a/b" },
	{ NULL, "/a/./b/.", "/a/b" },
	{ NULL, "/a/../b", "/a/../b" },
	{ NULL, "/..", "/.." },
	{ NULL, "/.a/b.", "/.a/b." },
	{ NULL, "/...", "/..." },
	{ NULL, "a/./b", "a/b" },
	{ NULL, "./a", "a" },
	{ NULL, "", "." },
	{ NULL, ".", "." },
	{ NULL, "./.", "." },
	{ "/home/me", "x", "/home/me/x" },
	{ "/home/me", "./x/", "/home/me/x" },
	{ "/home/me", "../x", "/home/me/../x" },
	{ "/home/me", "", "/home/me" },
	{ "/home/me", ".", "/home/me" },
	{ "/home/me", "/abs", "/abs" },
	{ "/", "x", "/x" },
	{ "/", "", "/" },
	{ "/home/me/", "x", "/home/me/x" },
	{ "lost/dir", "x", "lost/dir/x" },
	{ ".", "x", "x" },
};

static struct store_text text(const char *t)
{
	return (struct store_text){ .data = t, .bytes = strlen(t) };
}

static void joins_and_cleans(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buf out = BUF_INIT;
		struct store_text base = text(cases[i].base ? cases[i].base : ""), name = text(cases[i].name);

		model_path_join(&out, cases[i].base ? &base : NULL, &name);
		assert_string_equal(out.data, cases[i].want);
		buf_release(&out);
	}
}

static void cleaning_again_changes_nothing(void **state)
{
	static const char alphabet[] = "//..ab";

	(void)state;
	random_init();
	for (int round = 0; round < 10000; round++) {
		struct buf once = BUF_INIT, twice = BUF_INIT;
		char bytes[12];
		struct store_text name = { .data = bytes, .bytes = random_below(sizeof(bytes)) }, cleaned;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = alphabet[random_below(sizeof(alphabet) - 1)];
		model_path_join(&once, NULL, &name);
		cleaned = text(once.data);
		model_path_join(&twice, NULL, &cleaned);
		assert_string_equal(once.data, twice.data);
		assert_null(strstr(once.data, "//"));
		assert_true(once.len > 0);
		buf_release(&once);
		buf_release(&twice);
	}
}

static void what_is_there_already_stays(void **state)
{
	struct buf out = BUF_INIT;
	struct store_text name = text("x/");

	(void)state;
	buf_adds(&out, "before ");
	model_path_join(&out, NULL, &name);
	assert_string_equal(out.data, "before x");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joins_and_cleans),
		cmocka_unit_test(cleaning_again_changes_nothing),
		cmocka_unit_test(what_is_there_already_stays),
	};

	return RUN_TESTS(tests);
}

/* words: splits as sh does or refuses, quotes so that sh reads the word back, and knows a slip of the finger. */
#include "../support.h"

#include "base/shell-words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct arena arena = ARENA_INIT;

static int release(void **state)
{
	arena_release(&arena);
	return 0;
}

static char **split(const char *text)
{
	struct sonde_err err = SONDE_ERR_INIT;
	char **argv = NULL;

	if (words_split(text, &arena, &argv, &err) < 0)
		print_error("%s: %s\n", text, err.text);
	assert_non_null(argv);
	return argv;
}

static void assert_splits(const char *text, const char *const *want)
{
	char **argv = split(text);
	size_t i;

	for (i = 0; want[i]; i++) {
		assert_non_null(argv[i]);
		assert_string_equal(argv[i], want[i]);
	}
	assert_null(argv[i]);
}

#define SPLITS(text, ...) assert_splits(text, (const char *const[]){ __VA_ARGS__, NULL })

static void plain_words(void **state)
{
	SPLITS("ls", "ls");
	SPLITS("  a\tb  c ", "a", "b", "c");
	SPLITS("\n a b \n", "a", "b");
	SPLITS("a \\\n b\\\nc", "a", "bc");
	assert_null(split("")[0]);
	assert_null(split(" \t\n")[0]);
}

static void quotes(void **state)
{
	SPLITS("'a b' \"c d\"", "a b", "c d");
	SPLITS("a'b'\"c\"d", "abcd");
	SPLITS("'' \"\"", "", "");
	SPLITS("'$x `y` \\ \"'", "$x `y` \\ \"");
	SPLITS("\"\\$x \\`y\\` \\\\ \\\" \\n 'z' *?;|&<>()~#\"", "$x `y` \\ \" \\n 'z' *?;|&<>()~#");
	SPLITS("\"a\\\nb\"", "ab");
	SPLITS("'a\nb'", "a\nb");
	SPLITS("\\$a \\' \\\\ \\* a\\ b", "$a", "'", "\\", "*", "a b");
}

static void inert_characters(void **state)
{
	SPLITS("a~ b#c x! {a,b} @ % ^ + -", "a~", "b#c", "x!", "{a,b}", "@", "%", "^", "+", "-");
	SPLITS("[ -f x ]", "[", "-f", "x", "]");
	SPLITS("env A=b c=d", "env", "A=b", "c=d");
	SPLITS("./a=b", "./a=b");
	SPLITS("\\~ '#'x ''~", "~", "#x", "~");
}

static void what_a_shell_would_act_on(void **state)
{
	static const char *const texts[] = {
		"echo $HOME",
		"echo \"$HOME\"",
		"echo `id`",
		"echo \"`id`\"",
		"ls *.c",
		"ls a?",
		"ls [ab]",
		"ls a[b",
		"ls ~",
		"~/bin/x",
		"a; b",
		"a;",
		"a | b",
		"a & b",
		"a && b",
		"a > b",
		"a <b",
		"a 2>&1",
		"(a)",
		"a #b",
		"# a",
		"A=b c",
		"_1=",
		"! a",
		"a\nb",
		"a \n\n b",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct sonde_err err = SONDE_ERR_INIT;
		char **argv = NULL;

		assert_int_equal(words_split(texts[i], &arena, &argv, &err), -EINVAL);
		assert_null(argv);
		assert_non_null(strstr(err.hint, "--shell"));
		assert_true(err.text[0] != '\0');
	}
}

static void what_never_ends(void **state)
{
	static const char *const texts[] = { "'a", "a 'b c", "\"a", "\"a\\\"", "a\\", "\"\\" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct sonde_err err = SONDE_ERR_INIT;
		char **argv;

		assert_int_equal(words_split(texts[i], &arena, &argv, &err), -EINVAL);
		assert_non_null(strstr(err.text, "cannot split"));
	}
}

static void errors_need_no_listener(void **state)
{
	char **argv;

	assert_int_equal(words_split("$", &arena, &argv, NULL), -EINVAL);
}

/* What sh makes of the text as arguments: each word followed by a NUL. */
static void ask_shell(const char *text, struct buf *words)
{
	struct buf script = BUF_INIT;
	int pipes[2], status;
	pid_t pid;
	ssize_t n;

	buf_addf(&script, "printf '%%s\\0' %s", text);
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		dup2(pipes[1], 1);
		close(pipes[0]);
		execl("/bin/sh", "sh", "-c", script.data, (char *)NULL);
		_exit(127);
	}
	close(pipes[1]);
	while ((n = read(pipes[0], buf_room(words, 4096), 4096)) > 0)
		words->len += (size_t)n;
	close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	buf_release(&script);
}

static void assert_shell_agrees(const char *text, char *const *argv)
{
	struct buf want = BUF_INIT, got = BUF_INIT;

	for (size_t i = 0; argv[i]; i++)
		buf_add(&want, argv[i], strlen(argv[i]) + 1);
	ask_shell(text, &got);
	if (want.len != got.len || memcmp(want.data, got.data, want.len) != 0)
		print_error("sh differs on: %s\n", text);
	assert_int_equal(want.len, got.len);
	assert_memory_equal(want.data, got.data, want.len);
	buf_release(&want);
	buf_release(&got);
}

static void random_text(char *text, size_t n, const char *letters)
{
	size_t count = strlen(letters);

	for (size_t i = 0; i < n; i++)
		text[i] = letters[random_below(count)];
	text[n] = '\0';
}

/* Only what was accepted reaches the shell: were it not inert, this would be a poor test to run. */
static void random_texts_split_as_sh_does(void **state)
{
	int accepted = 0;

	random_init();
	for (int i = 0; i < 20000 && accepted < 400; i++) {
		char text[24];
		char **argv;

		random_text(text, 1 + random_below(20), "ab  ''\"\"\\\\$#~!=[]{}*");
		if (words_split(text, &arena, &argv, NULL) < 0 || !argv[0])
			continue;
		accepted++;
		assert_shell_agrees(text, argv);
	}
	assert_true(accepted > 100);
}

static void random_words_survive_quoting(void **state)
{
	random_init();
	for (int i = 0; i < 200; i++) {
		char words[4][16];
		char *argv[5] = { words[0], words[1], words[2], words[3], NULL };
		struct buf text = BUF_INIT;
		char **back;

		for (int k = 0; k < 4; k++)
			random_text(words[k], random_below(15), "ab=-. \t\n'\"\\$`*?[]{}()<>|&;!#~%\xff\x01");
		words_join(&text, argv);
		assert_shell_agrees(text.data, argv);
		back = split(text.data);
		for (int k = 0; k < 4; k++)
			assert_string_equal(back[k], words[k]);
		assert_null(back[4]);
		buf_release(&text);
	}
}

static void quoting_is_spared_where_it_can_be(void **state)
{
	static const struct {
		const char *word, *want;
	} cases[] = {
		{ "ls", "ls" },
		{ "--a=b", "--a=b" },
		{ "/a/b.c", "/a/b.c" },
		{ "", "''" },
		{ "a b", "'a b'" },
		{ "it's", "'it'\\''s'" },
		{ "A=b", "'A=b'" },
		{ "time", "'time'" },
		{ "$x", "'$x'" },
		{ "~", "'~'" },
		{ "timer", "timer" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buf out = BUF_INIT;

		words_quote(&out, cases[i].word);
		assert_string_equal(out.data, cases[i].want);
		buf_release(&out);
	}
}

static void join_quotes_by_place(void **state)
{
	char *const argv[] = { (char[]){ "dd" }, (char[]){ "if=a" }, (char[]){ "time" }, (char[]){ "b c" }, NULL };
	struct buf out = BUF_INIT;

	words_join(&out, argv);
	assert_string_equal(out.data, "dd if=a time 'b c'");
	buf_release(&out);
}

static void nearest(void **state)
{
	static const char *const commands[] = { "record", "info", "events", "export", "recover", "doctor", "io", NULL };
	static const struct {
		const char *typed, *want;
	} cases[] = {
		{ "recrod", "record" },
		{ "recor", "record" },
		{ "rcord", "record" },
		{ "reccord", "record" },
		{ "event", "events" },
		{ "evnets", "events" },
		{ "inof", "info" },
		{ "rec", "record" },
		{ "exprot", "export" },
		{ "oi", "io" },
		{ "doc", "doctor" },
		{ "docotr", "doctor" },
		{ "zebra", NULL },
		{ "", NULL },
		{ "x", NULL },
		{ "summary", NULL },
		{ "--help", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *got = words_nearest(cases[i].typed, commands);

		if (!cases[i].want)
			assert_null(got);
		else
			assert_string_equal(got ? got : "(none)", cases[i].want);
	}
}

static void nearest_of_absurd_lengths(void **state)
{
	char longer[500];
	const char *const candidates[] = { longer, "short", NULL };

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_null(words_nearest(longer, candidates));
	assert_string_equal(words_nearest("shrot", candidates), "short");
	longer[63] = '\0';
	assert_ptr_equal(words_nearest(longer, candidates), longer);
}

/* Longer than the arena's blocks, so that each of its two pieces is an allocation. */
static void out_of_memory(void **state)
{
	char text[8000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (size_t good = 0; good < 2; good++) {
		struct sonde_err err = SONDE_ERR_INIT;
		char **argv = NULL;

		alloc_fail_after(good);
		assert_int_equal(words_split(text, &arena, &argv, &err), -ENOMEM);
		alloc_fail_never();
		assert_null(argv);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(plain_words, release),
		cmocka_unit_test_teardown(quotes, release),
		cmocka_unit_test_teardown(inert_characters, release),
		cmocka_unit_test_teardown(what_a_shell_would_act_on, release),
		cmocka_unit_test_teardown(what_never_ends, release),
		cmocka_unit_test_teardown(errors_need_no_listener, release),
		cmocka_unit_test_teardown(random_texts_split_as_sh_does, release),
		cmocka_unit_test_teardown(random_words_survive_quoting, release),
		cmocka_unit_test_teardown(quoting_is_spared_where_it_can_be, release),
		cmocka_unit_test_teardown(join_quotes_by_place, release),
		cmocka_unit_test_teardown(nearest, release),
		cmocka_unit_test_teardown(nearest_of_absurd_lengths, release),
		cmocka_unit_test_teardown(out_of_memory, release),
	};

	return RUN_TESTS(tests);
}

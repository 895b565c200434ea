/* Numbers out of the texts of /proc and cgroups, also of hostile ones. */
#include "../support.h"

#include "base/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_number_by_key_and_column(void **state)
{
	uint64_t n = 0;
	assert_true(proc_number("a 1 2 3\nab 4 5 6\n", "ab", 1, &n) && n == 5);
	assert_true(proc_number("Key:    7 kB\n", "Key", 0, &n) && n == 7);
	assert_true(proc_number("x\ty=1 total=18446744073709551615", "x", 1, &n) && n == UINT64_MAX);
	assert_true(proc_number("12 34 56\n", NULL, 2, &n) && n == 56);
}

static void what_is_missing_has_no_value(void **state)
{
	uint64_t n;
	static const char *const texts[] = { "", "\n", "a", "a\n1\n", "a:", "a \n", "b 1\n", "aa 1\n", "a max\n",
		"a -1\n" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_false(proc_number(texts[i], "a", 0, &n));
	assert_false(proc_number("a 1 2\n3\n", "a", 2, &n));
	assert_false(proc_number("max\n", NULL, 0, &n));
}

#define NUMBERS \
	"1 2 3 4 -1 6 7 8 9 10 11 12 13 14 -2 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 5\n"

static void a_name_may_have_any_byte(void **state)
{
	struct proc_stat s;
	assert_true(proc_stat_parse(&s, "42 (a) R 1) b) S " NUMBERS));
	assert_string_equal(s.name, "a) R 1) b");
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.fields[PROC_PARENT], 1);
	assert_int_equal(s.fields[8], -1);
	assert_int_equal(s.fields[PROC_USER], 11);
	assert_int_equal(s.fields[PROC_START], 19);
	assert_int_equal(s.fields[PROC_CPU], 36);
}

static void half_a_text_is_refused(void **state)
{
	static const char whole[] = "42 (name) S " NUMBERS;
	char part[sizeof(whole)];
	struct proc_stat s;
	size_t needed = strlen(whole) - 4; /* up to the first digit of the last field that is used */
	for (size_t n = 0; n < needed; n++) {
		memcpy(part, whole, n);
		part[n] = '\0';
		assert_false(proc_stat_parse(&s, part));
	}
	assert_false(proc_stat_parse(&s, ") ("));
}

static void processes_that_run_and_that_have_exited(void **state)
{
	struct proc_stat s;
	siginfo_t info;
	assert_int_equal(proc_stat_read(&s, getpid()), 0);
	assert_int_equal(s.fields[PROC_PARENT], getppid());
	assert_false(proc_has_exited(&s));
	pid_t child = fork();
	if (!child)
		_exit(0);
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	assert_int_equal(proc_stat_read(&s, child), 0);
	assert_true(proc_has_exited(&s));
	waitpid(child, NULL, 0);
	assert_int_equal(proc_stat_read(&s, child), -ENOENT);
}

static void a_file_is_cut_at_the_buffer(void **state)
{
	char text[8];
	assert_int_equal(proc_read(AT_FDCWD, "/proc/self/stat", text, sizeof(text)), 7);
	assert_int_equal(strlen(text), 7);
	assert_int_equal(proc_read(AT_FDCWD, "/no/such/file", text, sizeof(text)), -ENOENT);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_by_key_and_column),
		cmocka_unit_test(what_is_missing_has_no_value),
		cmocka_unit_test(a_name_may_have_any_byte),
		cmocka_unit_test(half_a_text_is_refused),
		cmocka_unit_test(processes_that_run_and_that_have_exited),
		cmocka_unit_test(a_file_is_cut_at_the_buffer),
	};
	return RUN_TESTS(tests);
}

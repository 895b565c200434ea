/* loop: lines of the protocol; and CSV fields, which are hostile too. */
#include "../support.h"

#include "duet/measurements.h"
#include "duet/run-commands.h"

#include <math.h>
#include <string.h>

static void words(void **state)
{
	struct duet_iteration it;

	assert_int_equal(duet_loop_line("begin", 1, 2, &it), DUET_WORD_BEGIN);
	assert_int_equal(duet_loop_line("end 100 350 200 1.5", 1, 2, &it), DUET_WORD_END);
	assert_true(it.start_ns == 100 && it.end_ns == 350 && it.metrics[DUET_WALL] == 250);
	assert_true(it.metrics[DUET_CPU] == 200 && it.metrics[DUET_VALUE] == 1.5);
	assert_int_equal(duet_loop_line("end", 10, 25, &it), DUET_WORD_END);
	assert_true(it.start_ns == 10 && it.metrics[DUET_WALL] == 15 && isnan(it.metrics[DUET_CPU]));
	assert_int_equal(duet_loop_line("end - - - 4", 10, 25, &it), DUET_WORD_END);
	assert_true(it.metrics[DUET_WALL] == 15 && it.metrics[DUET_VALUE] == 4);
}

static void nonsense(void **state)
{
	static const char *const lines[] = { "", "en", "beginning", "ended", "end x", "end 1", "end 5 3",
		"end 1 2 3 4 5", "end nan inf", "end 1 1e300", "end -5 -3", "go" };
	struct duet_iteration it;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (duet_loop_line(lines[i], 1, 2, &it) != DUET_WORD_WRONG)
			fail_msg("'%s' was taken", lines[i]);
}

static void fields(void **state)
{
	char plain[] = "a,,b c\r\n", quoted[] = "\"a,1\",\"say \"\"x\"\"\",\"\",z\n", open[] = "\"never ends,x",
	     empty[] = "";
	char *f[8];

	assert_int_equal(duet_csv_split(plain, f, 8), 3);
	assert_true(!strcmp(f[0], "a") && !strcmp(f[1], "") && !strcmp(f[2], "b c"));
	assert_int_equal(duet_csv_split(quoted, f, 8), 4);
	assert_true(!strcmp(f[0], "a,1") && !strcmp(f[1], "say \"x\"") && !strcmp(f[2], "") && !strcmp(f[3], "z"));
	assert_int_equal(duet_csv_split(open, f, 8), 1);
	assert_int_equal(duet_csv_split(empty, f, 8), 1);
}

static void few_fields(void **state)
{
	char many[] = "1,2,3,4,5";
	char *f[2];

	assert_int_equal(duet_csv_split(many, f, 2), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(fields),
		cmocka_unit_test(few_fields),
	};

	return RUN_TESTS(tests);
}

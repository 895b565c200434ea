/* err: sentences, hints, and text that is too long. */
#include "../support.h"

#include "base/err.h"

#include <errno.h>
#include <string.h>

static void set_says_and_returns(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(err_set(&err, EINVAL, "cannot read line %d", 7), -EINVAL);
	assert_string_equal(err.text, "cannot read line 7");
	assert_string_equal(err.hint, "");
}

static void sys_adds_the_systems_words(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(err_sys(&err, ENOENT, "cannot open '%s'", "x"), -ENOENT);
	assert_string_equal(err.text, "cannot open 'x': No such file or directory");
}

static void sys_survives_an_unknown_number(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(err_sys(&err, 99999, "x"), -99999);
	assert_non_null(strstr(err.text, "99999"));
}

static void prefix_stands_in_front(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;

	err_set(&err, EIO, "short read");
	err_prefix(&err, "table '%s'", "io");
	err_prefix(&err, "run");
	assert_string_equal(err.text, "run: table 'io': short read");
}

static void prefix_keeps_the_hint_and_set_drops_it(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;

	err_set(&err, EIO, "a");
	err_hint(&err, "first");
	err_hint(&err, "try %s", "again");
	err_prefix(&err, "b");
	assert_string_equal(err.hint, "try again");
	err_set(&err, EIO, "another matter");
	assert_string_equal(err.hint, "");
}

static void null_is_accepted(void **state)
{
	assert_int_equal(err_set(NULL, EIO, "a"), -EIO);
	assert_int_equal(err_sys(NULL, ENOMEM, "a"), -ENOMEM);
	err_prefix(NULL, "a");
	err_hint(NULL, "a");
}

static void long_text_is_cut(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	char longer[4000];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	err_sys(&err, EIO, "%s", longer);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	err_prefix(&err, "%s", longer);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	err_hint(&err, "%s", longer);
	assert_int_equal(strlen(err.hint), sizeof(err.hint) - 1);
}

static void cut_text_keeps_its_beginning(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;

	err_set(&err, EIO, "%0*d", (int)sizeof(err.text) - 2, 1);
	err_prefix(&err, "context");
	assert_memory_equal(err.text, "context: 000", 12);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_says_and_returns),
		cmocka_unit_test(sys_adds_the_systems_words),
		cmocka_unit_test(sys_survives_an_unknown_number),
		cmocka_unit_test(prefix_stands_in_front),
		cmocka_unit_test(prefix_keeps_the_hint_and_set_drops_it),
		cmocka_unit_test(null_is_accepted),
		cmocka_unit_test(long_text_is_cut),
		cmocka_unit_test(cut_text_keeps_its_beginning),
	};

	return RUN_TESTS(tests);
}

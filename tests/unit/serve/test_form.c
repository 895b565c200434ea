/* form: fields as curl's --data-urlencode sends them, and what is malformed is refused. */
#include "../support.h"

#include "serve/jobserver.h"

#include <errno.h>

/* want NULL: the field is not there. */
static void assert_field(const char *body, const char *name, const char *want)
{
	struct buf text = BUF_INIT, out = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	bool is_there;

	buf_adds(&text, body);
	assert_int_equal(form_field(&text, name, &out, &is_there, &err), 0);
	assert_int_equal(is_there, want != NULL);
	if (want)
		assert_string_equal(out.data, want);
	buf_release(&text);
	buf_release(&out);
}

static void assert_refused(const char *body, const char *name)
{
	struct buf text = BUF_INIT, out = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	bool is_there;

	buf_adds(&text, body);
	assert_int_equal(form_field(&text, name, &out, &is_there, &err), -EINVAL);
	assert_true(err.text[0] != '\0');
	buf_release(&text);
	buf_release(&out);
}

static void test_fields(void **state)
{
	assert_field("app_name=waggle%2Fplugin%3A0.0.0&app_args=-stream%20top+live", "app_name", "waggle/plugin:0.0.0");
	assert_field("app_name=x&app_args=-stream%20top+live", "app_args", "-stream top live");
	assert_field("a=1&a=2", "a", "1");
	assert_field("a=b=c", "a", "b=c");
	assert_field("a&b=2", "a", "");
	assert_field("a=", "a", "");
	assert_field("%61=1", "a", "1");
	assert_field("ab=1", "a", NULL);
	assert_field("&&", "a", NULL);
	assert_field("", "a", NULL);
}

static void test_malformed(void **state)
{
	assert_refused("a=%", "a");
	assert_refused("a=%4", "a");
	assert_refused("a=%zz", "a");
	assert_refused("a=%00", "a");
	assert_refused("%=1&a=2", "a");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_fields), cmocka_unit_test(test_malformed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

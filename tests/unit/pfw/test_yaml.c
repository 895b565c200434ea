/* yaml: what is told of a text, one key=value a line. */
#include "../support.h"

#include "yaml.h"

#include <stdio.h>
#include <string.h>

static char told[8192];

static void tell(void *arg, const char *key, const char *value)
{
	size_t n = strlen(told);

	(void)arg;
	snprintf(told + n, sizeof(told) - n, "%s=%s\n", key, value);
}

static void assert_told(const char *text, const char *want)
{
	char copy[8192];

	snprintf(copy, sizeof(copy), "%s", text);
	told[0] = '\0';
	yaml_read(copy, tell, NULL);
	assert_string_equal(told, want);
}

static void test_mappings(void **state)
{
	(void)state;
	assert_told("enable: true\ntracer:\n  init: FUNCTION\n  log_file: './x y'\n"
		    "features:\n  io:\n    posix: false\n",
			"enable=true\ntracer.init=FUNCTION\ntracer.log_file=./x y\nfeatures.io.posix=false\n");
	assert_told("a: 1 # c\n# b: 2\n\n---\n'k': \"v # no\"\r\n", "a=1\nk=v # no\n");
	assert_told("a: \"x\\\"y\\\\\"\nb: 'it''s'\n", "a=x\"y\\\nb=it's\n");
	assert_told("a:\n    b: 1\n  c: 2\nd: 3\n", "a.b=1\na.c=2\nd=3\n");
}

static void test_lists(void **state)
{
	(void)state;
	assert_told("dirs: [/a, '/b, c', /d]\n", "dirs=/a\ndirs=/b, c\ndirs=/d\n");
	assert_told("inclusion:\n  - \"cat == 'posix'\"\n  - name IN {a,b}\n"
		    "exclusion: [ name IN {c,d}, \"e == 'f'\" ]\n",
			"inclusion=cat == 'posix'\ninclusion=name IN {a,b}\n"
			"exclusion=name IN {c,d}\nexclusion=e == 'f'\n");
	assert_told("a:\n- x\n- y\nb: z\n", "a=x\na=y\nb=z\n");
}

static void test_nonsense(void **state)
{
	(void)state;
	assert_told("", "");
	assert_told("\t:::\n- \n: x\n[[[\n{}\n", "");
	assert_told("a: |\n", "");
	assert_told("a: [\n", "");
	assert_told("k: 'open\n", "k=open\n");
	assert_told("a:\n b:\n  c:\n   d:\n    e:\n     f:\n      g:\n       h:\n        i: 1\n", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_nonsense),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

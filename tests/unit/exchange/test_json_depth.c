/* Every reader of JSON accepts the same nesting: what the log writes, an import stores and an export writes again. */
#include "support.h"

#include "base/jsonscan.h"
#include "pfw/line-parse.h"

#include <stdio.h>
#include <string.h>

/* {"k":[[..1..]]} with `depth` nested values. */
static size_t nested(char *text, unsigned depth)
{
	char *at = text;

	at = stpcpy(at, "{\"k\":");
	for (unsigned i = 1; i < depth; i++)
		*at++ = '[';
	*at++ = '1';
	for (unsigned i = 1; i < depth; i++)
		*at++ = ']';
	*at++ = '}';
	*at = '\0';
	return (size_t)(at - text);
}

static bool is_line(const char *args)
{
	struct pfw_line line = PFW_LINE_INIT;
	char text[300];
	size_t n = (size_t)snprintf(text, sizeof(text), "{\"name\":\"x\",\"args\":%s}", args);
	bool is_record = pfw_line_scan(&line, text, n) == PFW_LINE_RECORD;

	pfw_line_release(&line);
	return is_record;
}

static void all_readers_have_one_depth(void **state)
{
	char text[256];

	(void)state;
	for (unsigned depth = 1; depth < 2 * JSONSCAN_DEPTH_MAX; depth++) {
		size_t n = nested(text, depth);
		bool is_fine = depth <= JSONSCAN_DEPTH_MAX;

		/* The log gets the value without its object. */
		assert_int_equal(jsonscan_is_value(text + 5, n - 6), is_fine);
		assert_int_equal(is_line(text), is_fine);
		assert_int_equal(jsonscan_is_object(text, n), is_fine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_readers_have_one_depth) };

	return RUN_TESTS(tests);
}

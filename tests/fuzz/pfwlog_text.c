/*
 * What libdftracer reads of its user: a configuration file, and rules of aggregation. The input is the file; every
 * value in it is taken for a rule, too, and asked about an event.
 */
#include "fuzz.h"

#include "pfw/pfwlog.h"
#include "yaml.h"

#include <stdlib.h>
#include <string.h>

#define TEXT(value) \
	{ \
		.text = (value), .bytes = sizeof(value) - 1 \
	}

static char lines[2 * RULES_TEXT_BYTES];

static void tell(void *arg, const char *key, const char *value)
{
	size_t have = strlen(lines), n = strlen(value);
	(void)arg;
	if (have + n + 3 > sizeof(lines))
		return;
	lines[have++] = key[0] == 'e' ? '-' : '+';
	memcpy(lines + have, value, n);
	memcpy(lines + have + n, "\n", 2);
}

static bool find_arg(const void *of, const char *key, size_t n, struct rule_value *value)
{
	(void)of;
	*value = (struct rule_value){ .number = (int64_t)n };
	return n && key[0] == 'r';
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct aggregation_rules rules;
	const struct rule_event event = { .name = TEXT("read"),
		.cat = TEXT("POSIX"),
		.app = TEXT("program"),
		.ts = 7,
		.dur = 3,
		.rank = 0,
		.arg = find_arg };
	char *text = malloc(n + 1);
	if (!text)
		return 0;
	memcpy(text, bytes, n);
	text[n] = '\0';
	lines[0] = '\0';
	yaml_read(text, tell, NULL);
	free(text);
	rules_read(&rules, lines);
	rules_hold(&rules, &event);
	if (rules.included + rules.excluded != rules.rule_count || rules.node_count > RULES_NODES_MAX)
		abort();
	return 0;
}

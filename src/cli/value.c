/*
 * value: numbers with units, choices and lists.
 *
 * Fractions are computed in integers (whole part and billionths), so "0.1s" is exactly 100 000 000 ns and the decimal
 * point does not depend on the locale.
 */
#include "cli/value.h"

#include "base/buf.h"
#include "base/shell-words.h"
#include "result/term.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BILLION 1000000000

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", UINT64_C(1) << 10 },
	{ "M", UINT64_C(1) << 20 },
	{ "G", UINT64_C(1) << 30 },
	{ "T", UINT64_C(1) << 40 },
	{ "k", UINT64_C(1) << 10 },
	{ "m", UINT64_C(1) << 20 },
	{ "g", UINT64_C(1) << 30 },
	{ "t", UINT64_C(1) << 40 },
	{ "KiB", UINT64_C(1) << 10 },
	{ "MiB", UINT64_C(1) << 20 },
	{ "GiB", UINT64_C(1) << 30 },
	{ "TiB", UINT64_C(1) << 40 },
	{ NULL, 0 },
};

static const struct unit duration_units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "µs", 1000 },
	{ "ms", 1000000 },
	{ "s", BILLION },
	{ "m", 60 * UINT64_C(1000000000) },
	{ "min", 60 * UINT64_C(1000000000) },
	{ "h", 3600 * UINT64_C(1000000000) },
	{ "d", 86400 * UINT64_C(1000000000) },
	{ NULL, 0 },
};

static const struct unit bare_seconds[] = {
	{ "", BILLION },
	{ NULL, 0 },
};

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (strcmp(units->name, name) == 0)
			return units;
	return NULL;
}

/* Parses digits with at most one point. Returns the rest, or NULL if it is not a number or too long. */
static const char *decimal(const char *text, uint64_t *whole, uint64_t *billionths)
{
	uint64_t scale = BILLION;

	*whole = *billionths = 0;
	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(*whole, 10, whole) ||
				__builtin_add_overflow(*whole, (uint64_t)(*text - '0'), whole))
			return NULL;
	if (*text != '.')
		return text;
	for (text++; *text >= '0' && *text <= '9'; text++) {
		scale /= 10;
		*billionths += scale * (uint64_t)(*text - '0');
	}
	return text;
}

/* -EINVAL: not a number with one of the units; -ERANGE: does not fit int64_t. */
static int with_unit(const char *text, const struct unit *units, int64_t *value)
{
	uint64_t whole, billionths;
	const char *end = decimal(text, &whole, &billionths);
	const struct unit *unit;
	unsigned __int128 v;

	if (!end)
		return *text >= '0' && *text <= '9' ? -ERANGE : -EINVAL;
	unit = unit_find(units, end);
	if (!unit)
		return -EINVAL;
	v = (unsigned __int128)whole * unit->factor + (unsigned __int128)billionths * unit->factor / BILLION;
	if (v > INT64_MAX)
		return -ERANGE;
	*value = (int64_t)v;
	return 0;
}

int cli_parse_size(const char *text, uint64_t *bytes, struct sonde_err *err)
{
	int64_t v = 0;
	int rc = with_unit(text, size_units, &v);

	if (rc == -ERANGE)
		return err_set(err, ERANGE, "'%s' is too large", text);
	if (rc)
		return err_set(err, EINVAL, "'%s' is not a size: a number of bytes, or with K, M, G or T (\"64M\")",
				text);
	*bytes = (uint64_t)v;
	return 0;
}

int cli_parse_duration(const char *text, int64_t *ns, struct sonde_err *err)
{
	int rc = with_unit(text, duration_units, ns);

	if (rc == -EINVAL && strcmp(text, "0") == 0) {
		*ns = 0;
		return 0;
	}
	if (rc == -ERANGE)
		return err_set(err, ERANGE, "'%s' is too large", text);
	if (rc)
		return err_set(err, EINVAL, "'%s' is not a duration: a number with ns, us, ms, s, m, h or d (\"10s\")",
				text);
	return 0;
}

static int parse_seconds(const char *text, int64_t *ns, struct sonde_err *err)
{
	int rc = with_unit(text, bare_seconds, ns);

	if (rc == -ERANGE)
		return err_set(err, ERANGE, "'%s' is too large", text);
	return rc ? cli_parse_duration(text, ns, err) : 0;
}

static int parse_int(const char *text, int64_t *value, struct sonde_err *err)
{
	const char *digits = text + (*text == '-' || *text == '+');
	char *end;
	long long v;

	if (*digits < '0' || *digits > '9')
		return err_set(err, EINVAL, "'%s' is not a whole number", text);
	errno = 0;
	v = strtoll(text, &end, 10);
	if (*end)
		return err_set(err, EINVAL, "'%s' is not a whole number", text);
	if (errno)
		return err_set(err, ERANGE, "'%s' is too large", text);
	*value = v;
	return 0;
}

static char *limit_text(const struct cli_option *option, int64_t limit, char text[TERM_TEXT])
{
	if (option->type == CLI_TYPE_SIZE)
		return term_bytes(text, (uint64_t)limit);
	if (option->type == CLI_TYPE_DURATION || option->type == CLI_TYPE_SECONDS)
		return term_ns(text, limit);
	snprintf(text, TERM_TEXT, "%lld", (long long)limit);
	return text;
}

static int within_limits(const struct cli_option *option, const char *text, int64_t value, struct sonde_err *err)
{
	bool has_limits = option->min || option->max;
	int64_t max = has_limits ? option->max : INT64_MAX;
	char low[TERM_TEXT], high[TERM_TEXT];

	if (value >= option->min && value <= max)
		return 0;
	limit_text(option, option->min, low);
	if (max == INT64_MAX)
		return err_set(err, ERANGE, "'%s' is out of range: allowed is %s or more", text, low);
	return err_set(err, ERANGE, "'%s' is out of range: allowed is %s to %s", text, low,
			limit_text(option, max, high));
}

int value_choice(const char *const *choices, const char *text, size_t len, struct sonde_err *err)
{
	struct buf word = BUF_INIT, list = BUF_INIT;
	const char *nearest;

	for (int i = 0; choices[i]; i++)
		if (strlen(choices[i]) == len && memcmp(choices[i], text, len) == 0)
			return i;
	for (int i = 0; choices[i]; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", choices[i]);
	buf_add(&word, text, len);
	err_set(err, EINVAL, "'%s' is not one of: %s", word.data, list.data);
	nearest = words_nearest(word.data, choices);
	if (nearest)
		err_hint(err, "did you mean '%s'?", nearest);
	buf_release(&word);
	buf_release(&list);
	return -EINVAL;
}

bool cli_list_has(const struct cli_list *list, const char *word)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], word))
			return true;
	return false;
}

static int list_add(struct cli_list *list, const char *text, size_t len, struct arena *arena, struct sonde_err *err)
{
	const char **items = arena_alloc(arena, (list->count + 2) * sizeof(*items));
	const char *copy = arena_copy(arena, text, len);

	if (!items || !copy)
		return err_sys(err, ENOMEM, "cannot keep '%s'", text);
	if (list->count)
		memcpy(items, list->items, list->count * sizeof(*items));
	items[list->count++] = copy;
	list->items = items;
	return 0;
}

static int list_split(const struct cli_option *option, const char *text, char separator, struct cli_list *list,
		struct arena *arena, struct sonde_err *err)
{
	for (const char *word = text, *end;; word = end + 1) {
		int rc;

		end = strchrnul(word, separator);
		if (end == word)
			return err_set(err, EINVAL, "'%s' has an empty word", text);
		if (option->choices && value_choice(option->choices, word, (size_t)(end - word), err) < 0)
			return -EINVAL;
		rc = list_add(list, word, (size_t)(end - word), arena, err);
		if (rc || !*end)
			return rc;
	}
}

typedef int set_function(const struct cli_option *option, const char *text, void *field, struct arena *arena,
		struct sonde_err *err);

static int set_flag(const struct cli_option *option, const char *text, void *field, struct arena *arena,
		struct sonde_err *err)
{
	*(bool *)field = true;
	return 0;
}

static int set_string(const struct cli_option *option, const char *text, void *field, struct arena *arena,
		struct sonde_err *err)
{
	*(const char **)field = text;
	return 0;
}

static int set_path(const struct cli_option *option, const char *text, void *field, struct arena *arena,
		struct sonde_err *err)
{
	if (!*text)
		return err_set(err, EINVAL, "the name is empty");
	return set_string(option, text, field, arena, err);
}

static int parse_number(enum cli_type type, const char *text, int64_t *value, struct sonde_err *err)
{
	if (type == CLI_TYPE_SIZE)
		return cli_parse_size(text, (uint64_t *)value, err);
	if (type == CLI_TYPE_SECONDS)
		return parse_seconds(text, value, err);
	if (type == CLI_TYPE_DURATION)
		return cli_parse_duration(text, value, err);
	return parse_int(text, value, err);
}

/* Also for uint64_t fields: numbers are at most INT64_MAX. */
static int set_number(const struct cli_option *option, const char *text, void *field, struct arena *arena,
		struct sonde_err *err)
{
	int64_t v = 0;
	int rc = parse_number(option->type, text, &v, err);

	if (!rc)
		rc = within_limits(option, text, v, err);
	if (!rc)
		*(int64_t *)field = v;
	return rc;
}

static int set_choice(const struct cli_option *option, const char *text, void *field, struct arena *arena,
		struct sonde_err *err)
{
	int index = value_choice(option->choices, text, strlen(text), err);

	if (index < 0)
		return index;
	*(int *)field = index;
	return 0;
}

static int set_strings(const struct cli_option *option, const char *text, void *field, struct arena *arena,
		struct sonde_err *err)
{
	return list_add(field, text, strlen(text), arena, err);
}

static int set_words(const struct cli_option *option, const char *text, void *field, struct arena *arena,
		struct sonde_err *err)
{
	return list_split(option, text, ',', field, arena, err);
}

static int set_paths(const struct cli_option *option, const char *text, void *field, struct arena *arena,
		struct sonde_err *err)
{
	return list_split(option, text, ':', field, arena, err);
}

static set_function *const setters[] = {
	[CLI_TYPE_FLAG] = set_flag,
	[CLI_TYPE_STRING] = set_string,
	[CLI_TYPE_PATH] = set_path,
	[CLI_TYPE_RUN] = set_path,
	[CLI_TYPE_INT] = set_number,
	[CLI_TYPE_SIZE] = set_number,
	[CLI_TYPE_DURATION] = set_number,
	[CLI_TYPE_SECONDS] = set_number,
	[CLI_TYPE_CHOICE] = set_choice,
	[CLI_TYPE_STRINGS] = set_strings,
	[CLI_TYPE_WORDS] = set_words,
	[CLI_TYPE_PATHS] = set_paths,
};

int value_set(const struct cli_option *option, const char *text, void *options, struct arena *arena,
		struct sonde_err *err)
{
	if (option->type == CLI_TYPE_SETTER)
		return option->set(option, text, options, err);
	return setters[option->type](option, text, (char *)options + option->offset, arena, err);
}

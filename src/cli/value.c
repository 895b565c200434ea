/*
 * value: numbers with limits, choices and lists.
 */
#include "cli/value.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/quantity.h"
#include "base/shell-words.h"
#include "result/term.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_int(const char *text, int64_t *value, struct sonde_err *err)
{
	const char *digits = text + (*text == '-' || *text == '+');
	char *end;
	long long v;

	if (*digits < '0' || *digits > '9')
		return err_set(err, EINVAL, "invalid number '%s'", text);
	errno = 0;
	v = strtoll(text, &end, 10);
	if (*end)
		return err_set(err, EINVAL, "invalid number '%s'", text);
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
		return err_set(err, ERANGE, "'%s' is out of range: must be %s or more", text, low);
	return err_set(err, ERANGE, "'%s' is out of range: must be %s to %s", text, low, limit_text(option, max, high));
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
		return err_sys(err, ENOMEM, "cannot store '%s'", text);
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
			return err_set(err, EINVAL, "'%s' has an empty item", text);
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
		return parse_size(text, (uint64_t *)value, err);
	if (type == CLI_TYPE_SECONDS)
		return parse_seconds(text, value, err);
	if (type == CLI_TYPE_DURATION)
		return parse_duration(text, value, err);
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

/* The path may or may not pass through a remote shell: only characters that need no quoting are allowed. */
static bool is_plain(const char *path)
{
	return *path && !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-")];
}

int cli_remote_path(struct cli_context *ctx, const char *remote, const char **path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = remote ? 0 : fs_prefix(&text, ctx->err);

	if (rc < 0)
		return rc;
	buf_adds(&text, remote ? remote : "/bin/sonde");
	if (!is_plain(text.data))
		return cli_usage(ctx, "invalid --remote '%s': only letters, digits and /._+- are allowed", text.data);
	*path = arena_strdup(ctx->arena, text.data);
	return *path ? 0 : err_sys(ctx->err, ENOMEM, "cannot set the remote path of sonde");
}

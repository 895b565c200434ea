/*
 * parse: parses the words after a command's name into its options struct, its arguments and the program to run.
 *
 * Values have one function per type, in a table. On failure the field is unchanged and err has the error and the
 * allowed values; the parser prepends the option's name.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/quantity.h"
#include "base/shell-words.h"
#include "cli/help.h"
#include "result/term.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values. */

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

/* Words. */

struct parser {
	struct cli_context *ctx;
	char **next;    /* next word to parse */
	bool *is_given; /* per option row: set by the user, not by default */
	bool wants_help;
};

static int fail(struct cli_context *ctx)
{
	ctx->exit_code = CLI_EXIT_USAGE;
	return -EINVAL;
}

int cli_usage(struct cli_context *ctx, const char *fmt, ...)
{
	char text[sizeof(ctx->err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(ctx->err, EINVAL, "%s", text);
	err_hint(ctx->err, "see 'sonde %s --help'", ctx->command->name);
	return fail(ctx);
}

static size_t option_count(const struct cli_command *command)
{
	size_t n = 0;

	if (command->options)
		while (command->options[n].long_name)
			n++;
	return n;
}

static const struct cli_option *find_long(const struct cli_command *command, const char *name, size_t len)
{
	for (size_t i = 0, n = option_count(command); i < n; i++)
		if (strlen(command->options[i].long_name) == len &&
				memcmp(command->options[i].long_name, name, len) == 0)
			return &command->options[i];
	if (len == strlen(help_option.long_name) && memcmp(name, help_option.long_name, len) == 0)
		return &help_option;
	return NULL;
}

static const struct cli_option *find_short(const struct cli_command *command, char c)
{
	for (size_t i = 0, n = option_count(command); i < n; i++)
		if (command->options[i].short_name == c)
			return &command->options[i];
	return c == help_option.short_name ? &help_option : NULL;
}

static int unknown_long(struct cli_context *ctx, const char *word, size_t len)
{
	size_t n = option_count(ctx->command);
	const char **names = arena_alloc(ctx->arena, (n + 2) * sizeof(*names));
	const char *typed = arena_copy(ctx->arena, word, len), *nearest = NULL;

	cli_usage(ctx, "unknown option '%.*s'", (int)len, word);
	if (!names || !typed)
		return fail(ctx);
	for (size_t i = 0; i < n; i++)
		names[i] = ctx->command->options[i].long_name;
	names[n] = help_option.long_name;
	nearest = words_nearest(typed + 2, names);
	if (nearest)
		err_hint(ctx->err, "did you mean '--%s'?", nearest);
	return fail(ctx);
}

static const char *metavar(const struct cli_option *option)
{
	return option->metavar ? option->metavar : "VALUE";
}

/* The user's first value of a list replaces its default, later ones are appended. */
static void forget_default(struct parser *p, const struct cli_option *option)
{
	bool is_list = option->type == CLI_TYPE_STRINGS || option->type == CLI_TYPE_WORDS ||
			option->type == CLI_TYPE_PATHS;
	bool *is_given = &p->is_given[option - p->ctx->command->options];

	if (is_list && !*is_given)
		*(struct cli_list *)((char *)p->ctx->options + option->offset) = (struct cli_list){ 0 };
	*is_given = true;
}

static int take(struct parser *p, const struct cli_option *option, const char *shown, size_t shown_len,
		const char *value)
{
	struct cli_context *ctx = p->ctx;

	if (option == &help_option) {
		p->wants_help = true;
		return 0;
	}
	forget_default(p, option);
	if (value_set(option, value, ctx->options, ctx->arena, ctx->err) == 0)
		return 0;
	err_prefix(ctx->err, "option '%.*s'", (int)shown_len, shown);
	if (!ctx->err->hint[0])
		err_hint(ctx->err, "see 'sonde %s --help'", ctx->command->name);
	return fail(ctx);
}

/* Parses a value in the next word. */
static int take_next(struct parser *p, const struct cli_option *option, const char *shown, size_t shown_len)
{
	const char *value = *p->next;

	if (!value)
		return cli_usage(p->ctx, "option '%.*s' requires a value: %s", (int)shown_len, shown, metavar(option));
	p->next++;
	return take(p, option, shown, shown_len, value);
}

static int parse_long(struct parser *p, const char *word)
{
	size_t len = strcspn(word, "=");
	const char *value = word[len] ? word + len + 1 : NULL;
	const struct cli_option *option = find_long(p->ctx->command, word + 2, len - 2);

	if (!option)
		return unknown_long(p->ctx, word, len);
	if (option->type == CLI_TYPE_FLAG && value)
		return cli_usage(p->ctx, "option '%.*s' takes no value", (int)len, word);
	if (option->type == CLI_TYPE_FLAG || value)
		return take(p, option, word, len, value);
	return take_next(p, option, word, len);
}

/* "-jn5": flags up to the first option with a value, which takes the rest of the word or the next word. */
static int parse_cluster(struct parser *p, const char *word)
{
	for (const char *c = word + 1; *c; c++) {
		const struct cli_option *option = find_short(p->ctx->command, *c);
		const char shown[] = { '-', *c, '\0' };
		int rc;

		if (!option)
			return cli_usage(p->ctx, "unknown option '%s'", shown);
		if (option->type != CLI_TYPE_FLAG)
			return c[1] ? take(p, option, shown, 2, c + 1) : take_next(p, option, shown, 2);
		rc = take(p, option, shown, 2, NULL);
		if (rc || p->wants_help)
			return rc;
	}
	return 0;
}

static int add_argument(struct cli_context *ctx, char *word)
{
	const struct cli_positional *positional = &ctx->command->positional;

	if (!positional->name || ctx->arg_count == positional->max)
		return cli_usage(ctx, "unexpected argument '%s'", word);
	if (positional->type == CLI_TYPE_CHOICE && value_choice(positional->choices, word, strlen(word), ctx->err) < 0)
		return fail(ctx);
	ctx->args[ctx->arg_count++] = word;
	return 0;
}

static bool is_program_start(const struct cli_command *command)
{
	return command->flags & CLI_TAKES_PROGRAM && !command->positional.name;
}

static int parse_word(struct parser *p)
{
	char *word = *p->next;

	if (word[0] == '-' && word[1]) {
		p->next++;
		return word[1] == '-' ? parse_long(p, word) : parse_cluster(p, word);
	}
	if (is_program_start(p->ctx->command)) {
		p->ctx->program = p->next;
		return 0;
	}
	p->next++;
	return add_argument(p->ctx, word);
}

/* The words after `--`. */
static int parse_rest(struct parser *p)
{
	int rc = 0;

	if (p->ctx->command->flags & CLI_TAKES_PROGRAM) {
		p->ctx->program = *p->next ? p->next : NULL;
		return 0;
	}
	for (; *p->next && !rc; p->next++)
		rc = add_argument(p->ctx, *p->next);
	return rc;
}

static int check_counts(struct cli_context *ctx)
{
	const struct cli_positional *positional = &ctx->command->positional;

	if (ctx->arg_count < positional->min)
		return cli_usage(ctx, "missing argument %s", positional->name);
	if (ctx->command->flags & CLI_NEEDS_PROGRAM && !ctx->program) {
		cli_usage(ctx, "missing program to run");
		err_hint(ctx->err, "usage: sonde %s %s", ctx->command->name, ctx->command->usage);
		return fail(ctx);
	}
	return 0;
}

static int set_up(struct parser *p, char **argv)
{
	struct cli_context *ctx = p->ctx;
	size_t words = 0, options = option_count(ctx->command);

	while (argv[words])
		words++;
	ctx->options = arena_alloc(ctx->arena, ctx->command->options_size + 1);
	ctx->args = arena_alloc(ctx->arena, (words + 1) * sizeof(*ctx->args));
	p->is_given = arena_alloc(ctx->arena, options + 1);
	if (!ctx->options || !ctx->args || !p->is_given)
		return err_sys(ctx->err, ENOMEM, "cannot read the options");
	for (size_t i = 0; i < options; i++) {
		const struct cli_option *option = &ctx->command->options[i];

		if (option->default_text &&
				value_set(option, option->default_text, ctx->options, ctx->arena, ctx->err)) {
			err_prefix(ctx->err, "default of option '--%s'", option->long_name);
			return -EINVAL;
		}
	}
	return 0;
}

int cli_parse(struct cli_context *ctx, const struct cli_command *command, char **argv)
{
	struct parser p = { .ctx = ctx, .next = argv + 1 };
	int rc;

	ctx->command = command;
	ctx->words = argv;
	rc = set_up(&p, argv);
	while (!rc && *p.next && !ctx->program && !p.wants_help) {
		if (strcmp(*p.next, "--") == 0) {
			p.next++;
			rc = parse_rest(&p);
			break;
		}
		rc = parse_word(&p);
	}
	if (rc)
		return rc;
	return p.wants_help ? CLI_HELP_ASKED : check_counts(ctx);
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

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

static const char *limit_text(const struct cli_option *option, int64_t limit, char text[TERM_TEXT])
{
	if (option->type == CLI_TYPE_SIZE)
		return term_bytes(text, (uint64_t)limit);
	if (option->type == CLI_TYPE_DURATION || option->type == CLI_TYPE_SECONDS)
		return term_ns(text, limit);
	snprintf(text, TERM_TEXT, "%lld", (long long)limit);
	return text;
}

/* Also for uint64_t fields: numbers are at most INT64_MAX. */
static int set_number(const struct cli_option *option, const char *text, int64_t *field, struct sonde_err *err)
{
	int64_t v = 0, max = option->min || option->max ? option->max : INT64_MAX;
	char low[TERM_TEXT], high[TERM_TEXT];
	int rc = option->type == CLI_TYPE_SIZE              ? parse_size(text, (uint64_t *)&v, err)
			: option->type == CLI_TYPE_SECONDS  ? parse_seconds(text, &v, err)
			: option->type == CLI_TYPE_DURATION ? parse_duration(text, &v, err)
							    : parse_int(text, &v, err);

	if (rc)
		return rc;
	if (v >= option->min && v <= max) {
		*field = v;
		return 0;
	}
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

int value_set(const struct cli_option *option, const char *text, void *options, struct arena *arena,
		struct sonde_err *err)
{
	void *field = (char *)options + option->offset;
	int index;

	switch (option->type) {
	case CLI_TYPE_FLAG:
		*(bool *)field = true;
		return 0;
	case CLI_TYPE_PATH:
	case CLI_TYPE_RUN:
		if (!*text)
			return err_set(err, EINVAL, "the name is empty");
		/* fall through */
	case CLI_TYPE_STRING:
		*(const char **)field = text;
		return 0;
	case CLI_TYPE_INT:
	case CLI_TYPE_SIZE:
	case CLI_TYPE_DURATION:
	case CLI_TYPE_SECONDS:
		return set_number(option, text, field, err);
	case CLI_TYPE_CHOICE:
		index = value_choice(option->choices, text, strlen(text), err);
		if (index >= 0)
			*(int *)field = index;
		return index < 0 ? index : 0;
	case CLI_TYPE_STRINGS:
		return list_add(field, text, strlen(text), arena, err);
	case CLI_TYPE_WORDS:
		return list_split(option, text, ',', field, arena, err);
	case CLI_TYPE_PATHS:
		return list_split(option, text, ':', field, arena, err);
	case CLI_TYPE_SETTER:
		return option->set(option, text, options, err);
	}
	return err_set(err, EINVAL, "unknown type of option '--%s'", option->long_name);
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

static int take(struct parser *p, const struct cli_option *option, const char *shown, size_t shown_len,
		const char *value)
{
	struct cli_context *ctx = p->ctx;
	bool *is_given;

	if (option == &help_option) {
		p->wants_help = true;
		return 0;
	}
	is_given = &p->is_given[option - ctx->command->options];
	/* The user's first value of a list replaces its default, later ones are appended. */
	if (!*is_given &&
			(option->type == CLI_TYPE_STRINGS || option->type == CLI_TYPE_WORDS ||
					option->type == CLI_TYPE_PATHS))
		*(struct cli_list *)((char *)ctx->options + option->offset) = (struct cli_list){ 0 };
	*is_given = true;
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
		return cli_usage(p->ctx, "option '%.*s' requires a value: %s", (int)shown_len, shown,
				option->metavar ? option->metavar : "VALUE");
	p->next++;
	return take(p, option, shown, shown_len, value);
}

static int parse_long(struct parser *p, const char *word)
{
	size_t len = strcspn(word, "=");
	const char *value = word[len] ? word + len + 1 : NULL;
	const struct cli_option *option = find_long(p->ctx->command, word + 2, len - 2);
	bool is_optional = option && option->metavar && option->metavar[0] == '[';

	if (!option)
		return unknown_long(p->ctx, word, len);
	if (option->type == CLI_TYPE_FLAG && value)
		return cli_usage(p->ctx, "option '%.*s' takes no value", (int)len, word);
	if (option->type == CLI_TYPE_FLAG || value || is_optional)
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

static int parse_word(struct parser *p)
{
	char *word = *p->next;

	if (word[0] == '-' && word[1]) {
		p->next++;
		return word[1] == '-' ? parse_long(p, word) : parse_cluster(p, word);
	}
	if (p->ctx->command->flags & CLI_TAKES_PROGRAM && !p->ctx->command->positional.name) {
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
	if (rc || p.wants_help)
		return rc ? rc : CLI_HELP_ASKED;
	if (ctx->arg_count < command->positional.min)
		return cli_usage(ctx, "missing argument %s", command->positional.name);
	if (command->flags & CLI_NEEDS_PROGRAM && !ctx->program) {
		rc = cli_usage(ctx, "missing program to run");
		err_hint(ctx->err, "usage: sonde %s %s", command->name, command->usage);
	}
	return rc;
}

int cli_remote_path(struct cli_context *ctx, const char *remote, const char **path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-";
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = remote ? 0 : fs_prefix(&text, ctx->err);

	if (rc < 0)
		return rc;
	buf_adds(&text, remote ? remote : "/bin/sonde");
	/* The path may or may not pass through a remote shell: only characters that need no quoting are allowed. */
	if (!text.len || text.data[strspn(text.data, plain)])
		return cli_usage(ctx, "invalid --remote '%s': only letters, digits and /._+- are allowed", text.data);
	*path = arena_strdup(ctx->arena, text.data);
	return *path ? 0 : err_sys(ctx->err, ENOMEM, "cannot set the remote path of sonde");
}

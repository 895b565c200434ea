#include "config/config.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/shell-words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 64, MERGES_MAX = 8 };

size_t config_line(const yaml_node_t *node)
{
	return node->start_mark.line + 1;
}

int config_error(struct config_reader *r, const yaml_node_t *at, const char *fmt, ...)
{
	char text[sizeof(r->err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(r->err, EINVAL, "%s:%zu: %s", r->path, config_line(at), text);
}

const char *config_text(const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE || strlen((const char *)node->data.scalar.value) != node->data.scalar.length)
		return NULL;
	return (const char *)node->data.scalar.value;
}

bool config_number(const yaml_node_t *node, double *number)
{
	const char *text = config_text(node);
	char *end;

	if (!text || !*text || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	if (text[strspn(text, "+-.0123456789eE")])
		return false; /* "inf", "nan" and "0x1p3" are not numbers in these files */
	*number = strtod(text, &end);
	return !*end && end != text && isfinite(*number);
}

yaml_node_t *config_item(struct config_reader *r, yaml_node_t *list, size_t i)
{
	if (list->type != YAML_SEQUENCE_NODE ||
			i >= (size_t)(list->data.sequence.items.top - list->data.sequence.items.start))
		return NULL;
	return yaml_document_get_node(r->document, list->data.sequence.items.start[i]);
}

yaml_node_t *config_find(struct config_reader *r, yaml_node_t *map, const char *key)
{
	if (map->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *text = config_text(yaml_document_get_node(r->document, p->key));

		if (text && strcmp(text, key) == 0)
			return yaml_document_get_node(r->document, p->value);
	}
	return NULL;
}

static int take_text(struct config_reader *r, yaml_node_t *v, const struct config_key *key, void *into)
{
	const char *text = config_text(v);
	char *copy = text ? arena_strdup(r->arena, text) : NULL;

	if (!text)
		return config_error(r, v, "'%s' must be a string", key->name);
	if (!copy)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	*(const char **)into = copy;
	return 0;
}

static int take_real(struct config_reader *r, yaml_node_t *v, const struct config_key *key, void *into)
{
	double number;

	if (!config_number(v, &number))
		return config_error(r, v, "'%s' must be a number", key->name);
	*(double *)into = number;
	return 0;
}

/* An explicit null is the default. */
static bool is_null(const yaml_node_t *v)
{
	const char *text = config_text(v);

	return text && v->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
			(strcmp(text, "null") == 0 || strcmp(text, "~") == 0);
}

static int take_whole(struct config_reader *r, yaml_node_t *v, const struct config_key *key, void *into)
{
	const char *text = config_text(v);
	double number = 0;
	char *end = NULL;
	int64_t whole;

	if (is_null(v))
		return 0;
	errno = 0;
	whole = text ? strtoll(text, &end, 10) : 0;
	if (!config_number(v, &number) || errno)
		return config_error(r, v, "'%s' must be an integer", key->name);
	if (*end) { /* 1e6 is one too, where a double is exact */
		whole = fabs(number) <= 9e15 ? (int64_t)number : 0;
		if ((double)whole != number)
			return config_error(r, v, "'%s' must be an integer", key->name);
	}
	if (whole < key->min)
		return config_error(r, v, "'%s' must be at least %" PRId64, key->name, key->min);
	if (key->max && whole > key->max)
		return config_error(r, v, "'%s' must be at most %" PRId64, key->name, key->max);
	*(int64_t *)into = whole;
	return 0;
}

static int take_truth(struct config_reader *r, yaml_node_t *v, const struct config_key *key, void *into)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };
	const char *text = config_text(v);

	if (is_null(v))
		return 0;
	for (size_t i = 0; text && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(text, words[i]) == 0) {
			*(bool *)into = i % 2;
			return 0;
		}
	return config_error(r, v, "'%s' must be true or false", key->name);
}

static int take_duration(struct config_reader *r, yaml_node_t *v, const struct config_key *key, void *into)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "m", 6e10 }, { "min", 6e10 }, { "h", 3.6e12 } };
	const char *text = config_text(v);
	char *end;
	double number = text ? strtod(text, &end) : -1;

	for (size_t i = 0; number >= 0 && end != text && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0 && number * units[i].ns < 9e18) {
			*(int64_t *)into = (int64_t)(number * units[i].ns);
			return 0;
		}
	return config_error(r, v, "'%s' must be a duration with a unit, such as 30s, 500ms or 10m", key->name);
}

static int take_word(struct config_reader *r, yaml_node_t *v, const struct config_key *key, void *into)
{
	const char *text = config_text(v), *nearest;
	char list[256] = "";
	size_t used = 0;

	for (int i = 0; key->words[i]; i++) {
		if (text && strcmp(text, key->words[i]) == 0) {
			*(int *)into = i;
			return 0;
		}
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", key->words[i]);
		used = used < sizeof(list) ? used : sizeof(list) - 1;
	}
	nearest = text ? words_nearest(text, key->words) : NULL;
	if (text)
		config_error(r, v, "invalid %s '%s' (supported: %s)", key->name, text, list);
	else
		config_error(r, v, "'%s' must be one of %s", key->name, list);
	if (nearest)
		err_hint(r->err, "did you mean '%s'?", nearest);
	return -EINVAL;
}

static int take_list(struct config_reader *r, yaml_node_t *v, const struct config_key *key, void *into)
{
	const char *text = config_text(v);
	size_t n = 0;
	char **words;

	if (text) {
		if (words_split(text, r->arena, &words, r->err) < 0) {
			err_prefix(r->err, "%s:%zu: '%s'", r->path, config_line(v), key->name);
			return -EINVAL;
		}
		*(char ***)into = words;
		return 0;
	}
	if (v->type != YAML_SEQUENCE_NODE)
		return config_error(r, v, "'%s' must be a list of strings", key->name);
	while (config_item(r, v, n))
		n++;
	words = arena_alloc(r->arena, (n + 1) * sizeof(*words));
	for (size_t i = 0; words && i < n; i++) {
		text = config_text(config_item(r, v, i));
		if (!text)
			return config_error(r, config_item(r, v, i), "'%s' must be a list of strings", key->name);
		words[i] = arena_strdup(r->arena, text);
	}
	*(char ***)into = words;
	return words ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

static int take_other(struct config_reader *r, yaml_node_t *v, const struct config_key *key, void *into)
{
	return 0;
}

static int (*const takers[])(struct config_reader *, yaml_node_t *, const struct config_key *, void *) = {
	[CONFIG_TEXT] = take_text,
	[CONFIG_REAL] = take_real,
	[CONFIG_WHOLE] = take_whole,
	[CONFIG_TRUTH] = take_truth,
	[CONFIG_DURATION] = take_duration,
	[CONFIG_WORD] = take_word,
	[CONFIG_LIST] = take_list,
	[CONFIG_OTHER] = take_other,
};

static int unknown_key(struct config_reader *r, const yaml_node_t *at, const struct config_key *keys, const char *what,
		const char *name)
{
	const char *names[KEYS_MAX + 1] = { NULL }, *nearest;

	for (size_t i = 0; i < KEYS_MAX && keys[i].name; i++)
		names[i] = keys[i].name;
	nearest = words_nearest(name, names);
	config_error(r, at, "unknown key '%s' in %s", name, what ? what : r->what);
	if (nearest)
		err_hint(r->err, "did you mean '%s'?", nearest);
	return -EINVAL;
}

static int take_pair(struct config_reader *r, yaml_node_t *key, yaml_node_t *value, const struct config_key *keys,
		const char *what, void *into, bool *is_taken, bool is_merged)
{
	const char *name = config_text(key);

	if (!name)
		return config_error(r, key, "a key must be a string");
	for (size_t i = 0; keys[i].name; i++) {
		if (strcmp(keys[i].name, name) != 0)
			continue;
		if (is_taken[i])
			return is_merged ? 0 : config_error(r, key, "duplicate key '%s'", name);
		is_taken[i] = true;
		if (keys[i].take)
			return keys[i].take(r, value, into);
		return takers[keys[i].kind](r, value, &keys[i], (char *)into + keys[i].offset);
	}
	/* What is merged into several mappings may have keys that only some of them know. */
	return is_merged ? 0 : unknown_key(r, key, keys, what, name);
}

static bool is_merge(struct config_reader *r, const yaml_node_pair_t *p)
{
	const char *name = config_text(yaml_document_get_node(r->document, p->key));

	return name && strcmp(name, "<<") == 0;
}

static int take_pairs(struct config_reader *r, yaml_node_t *map, const struct config_key *keys, const char *what,
		void *into, bool *is_taken, int depth)
{
	yaml_node_pair_t *end;
	int rc = 0;

	if (map->type != YAML_MAPPING_NODE)
		return config_error(r, map, "%s must be a mapping (key: value)", what ? what : r->what);
	if (depth > MERGES_MAX)
		return config_error(r, map, "too many merges (<<) within each other (maximum %d)", MERGES_MAX);
	end = map->data.mapping.pairs.top;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < end && rc == 0; p++)
		if (!is_merge(r, p))
			rc = take_pair(r, yaml_document_get_node(r->document, p->key),
					yaml_document_get_node(r->document, p->value), keys, what, into, is_taken,
					depth > 0);
	/* Own keys have been read: they override merged ones. */
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < end && rc == 0; p++)
		if (is_merge(r, p))
			rc = take_pairs(r, yaml_document_get_node(r->document, p->value), keys, what, into, is_taken,
					depth + 1);
	return rc;
}

int config_take_map(struct config_reader *r, yaml_node_t *map, const struct config_key *keys, const char *what,
		void *into)
{
	bool is_taken[KEYS_MAX] = { false };

	return take_pairs(r, map, keys, what, into, is_taken, 0);
}

int config_parse(struct config_reader *r, const char *text, size_t bytes,
		int (*take)(struct config_reader *, yaml_node_t *))
{
	yaml_document_t document;
	yaml_parser_t parser;
	int rc;

	if (!yaml_parser_initialize(&parser))
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	if (!yaml_parser_load(&parser, &document)) {
		rc = err_set(r->err, EINVAL, "%s:%zu: %s", r->path, parser.problem_mark.line + 1,
				parser.problem ? parser.problem : "invalid YAML");
	} else {
		yaml_node_t *root = yaml_document_get_root_node(&document);
		r->document = &document;
		rc = root ? take(r, root) : err_set(r->err, EINVAL, "%s: the file is empty", r->path);
		r->document = NULL;
		yaml_document_delete(&document);
	}
	yaml_parser_delete(&parser);
	return rc;
}

int config_take_environment(struct config_reader *r, yaml_node_t *map, const char *const **words)
{
	const char **list;
	size_t n = 0;

	if (map->type != YAML_MAPPING_NODE)
		return config_error(r, map, "'environment' must be a mapping (NAME: value)");
	list = arena_alloc(r->arena,
			(size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start + 1) * sizeof(*list));
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; list && p < map->data.mapping.pairs.top; p++) {
		const char *name = config_text(yaml_document_get_node(r->document, p->key));
		const char *value = config_text(yaml_document_get_node(r->document, p->value));

		if (!name || !*name || strchr(name, '=') || !value)
			return config_error(r, yaml_document_get_node(r->document, p->key),
					"invalid environment variable (expected NAME: value)");
		list[n++] = arena_printf(r->arena, "%s=%s", name, value);
	}
	*words = list;
	return list ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

int config_load(struct config_reader *r, int (*take)(struct config_reader *, yaml_node_t *))
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, r->path, CONFIG_BYTES_MAX, &text, r->err);

	return rc < 0 ? rc : config_parse(r, text.data, text.len, take);
}

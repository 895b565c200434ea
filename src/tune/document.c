/*
 * document: see document.h.
 */
#include "tune/document.h"

#include "base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 64 };

size_t yaml_line(const yaml_node_t *node)
{
	return node->start_mark.line + 1;
}

int yaml_error(struct yaml_reader *r, const yaml_node_t *at, const char *fmt, ...)
{
	char text[sizeof(r->err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(r->err, EINVAL, "%s:%zu: %s", r->path, yaml_line(at), text);
}

const char *yaml_text(const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE || strlen((const char *)node->data.scalar.value) != node->data.scalar.length)
		return NULL;
	return (const char *)node->data.scalar.value;
}

bool yaml_number(const yaml_node_t *node, double *number)
{
	const char *text = yaml_text(node);
	char *end;

	if (!text || !*text || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	if (text[strspn(text, "+-.0123456789eE")])
		return false; /* "inf", "nan" and "0x1p3" are words */
	*number = strtod(text, &end);
	return !*end && end != text && isfinite(*number);
}

yaml_node_t *yaml_item(struct yaml_reader *r, yaml_node_t *list, size_t i)
{
	if (list->type != YAML_SEQUENCE_NODE ||
			i >= (size_t)(list->data.sequence.items.top - list->data.sequence.items.start))
		return NULL;
	return yaml_document_get_node(r->document, list->data.sequence.items.start[i]);
}

yaml_node_t *yaml_find(struct yaml_reader *r, yaml_node_t *map, const char *key)
{
	if (map->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const char *text = yaml_text(yaml_document_get_node(r->document, p->key));

		if (text && strcmp(text, key) == 0)
			return yaml_document_get_node(r->document, p->value);
	}
	return NULL;
}

static int take_text(struct yaml_reader *r, yaml_node_t *v, const struct yaml_key *key, void *into)
{
	const char *text = yaml_text(v);
	char *copy = text ? arena_strdup(r->arena, text) : NULL;

	if (!text)
		return yaml_error(r, v, "'%s' must be a text", key->name);
	if (!copy)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	*(const char **)into = copy;
	return 0;
}

static int take_real(struct yaml_reader *r, yaml_node_t *v, const struct yaml_key *key, void *into)
{
	double number;

	if (!yaml_number(v, &number))
		return yaml_error(r, v, "'%s' must be a number", key->name);
	*(double *)into = number;
	return 0;
}

static int take_whole(struct yaml_reader *r, yaml_node_t *v, const struct yaml_key *key, void *into)
{
	double number;

	if (!yaml_number(v, &number) || number != round(number) || fabs(number) > 9e15)
		return yaml_error(r, v, "'%s' must be a whole number", key->name);
	if (number < (double)key->min)
		return yaml_error(r, v, "'%s' must be at least %" PRId64, key->name, key->min);
	*(int64_t *)into = (int64_t)number;
	return 0;
}

static int take_truth(struct yaml_reader *r, yaml_node_t *v, const struct yaml_key *key, void *into)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };
	const char *text = yaml_text(v);

	for (size_t i = 0; text && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(text, words[i]) == 0) {
			*(bool *)into = i % 2;
			return 0;
		}
	return yaml_error(r, v, "'%s' must be true or false", key->name);
}

static int take_duration(struct yaml_reader *r, yaml_node_t *v, const struct yaml_key *key, void *into)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "m", 6e10 }, { "min", 6e10 }, { "h", 3.6e12 } };
	const char *text = yaml_text(v);
	char *end;
	double number = text ? strtod(text, &end) : -1;

	for (size_t i = 0; number >= 0 && end != text && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0 && number * units[i].ns < 9e18) {
			*(int64_t *)into = (int64_t)(number * units[i].ns);
			return 0;
		}
	return yaml_error(r, v, "'%s' must be a time with a unit, such as 30s, 500ms or 10m", key->name);
}

static int take_word(struct yaml_reader *r, yaml_node_t *v, const struct yaml_key *key, void *into)
{
	const char *text = yaml_text(v), *nearest;
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
	yaml_error(r, v, "'%s' is one of %s%s%s%s", key->name, list, text ? ", not '" : "", text ? text : "",
			text ? "'" : "");
	if (nearest)
		err_hint(r->err, "did you mean '%s'?", nearest);
	return -EINVAL;
}

static int take_list(struct yaml_reader *r, yaml_node_t *v, const struct yaml_key *key, void *into)
{
	const char *text = yaml_text(v);
	size_t n = 0;
	char **words;

	if (text) {
		if (words_split(text, r->arena, &words, r->err) < 0) {
			err_prefix(r->err, "%s:%zu: '%s'", r->path, yaml_line(v), key->name);
			return -EINVAL;
		}
		*(char ***)into = words;
		return 0;
	}
	if (v->type != YAML_SEQUENCE_NODE)
		return yaml_error(r, v, "'%s' must be a list of texts", key->name);
	while (yaml_item(r, v, n))
		n++;
	words = arena_alloc(r->arena, (n + 1) * sizeof(*words));
	for (size_t i = 0; words && i < n; i++) {
		text = yaml_text(yaml_item(r, v, i));
		if (!text)
			return yaml_error(r, yaml_item(r, v, i), "'%s' must be a list of texts", key->name);
		words[i] = arena_strdup(r->arena, text);
	}
	*(char ***)into = words;
	return words ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

static int take_other(struct yaml_reader *r, yaml_node_t *v, const struct yaml_key *key, void *into)
{
	return 0;
}

static int (*const takers[])(struct yaml_reader *, yaml_node_t *, const struct yaml_key *, void *) = {
	[YAML_TEXT] = take_text,
	[YAML_REAL] = take_real,
	[YAML_WHOLE] = take_whole,
	[YAML_TRUTH] = take_truth,
	[YAML_DURATION] = take_duration,
	[YAML_WORD] = take_word,
	[YAML_LIST] = take_list,
	[YAML_OTHER] = take_other,
};

static int unknown_key(struct yaml_reader *r, const yaml_node_t *at, const struct yaml_key *keys, const char *what,
		const char *name)
{
	const char *names[KEYS_MAX + 1] = { NULL }, *nearest;

	for (size_t i = 0; keys[i].name && i < KEYS_MAX; i++)
		names[i] = keys[i].name;
	nearest = words_nearest(name, names);
	yaml_error(r, at, "%s has no key '%s'", what ? what : "a study", name);
	if (nearest)
		err_hint(r->err, "did you mean '%s'?", nearest);
	return -EINVAL;
}

static int take_pair(struct yaml_reader *r, yaml_node_t *key, yaml_node_t *value, const struct yaml_key *keys,
		const char *what, void *into, bool *is_taken)
{
	const char *name = yaml_text(key);

	if (!name)
		return yaml_error(r, key, "a key must be a text");
	for (size_t i = 0; keys[i].name; i++) {
		if (strcmp(keys[i].name, name) != 0)
			continue;
		if (is_taken[i])
			return yaml_error(r, key, "'%s' comes twice", name);
		is_taken[i] = true;
		if (keys[i].take)
			return keys[i].take(r, value, into);
		return takers[keys[i].kind](r, value, &keys[i], (char *)into + keys[i].offset);
	}
	return unknown_key(r, key, keys, what, name);
}

int yaml_take_map(struct yaml_reader *r, yaml_node_t *map, const struct yaml_key *keys, const char *what, void *into)
{
	bool is_taken[KEYS_MAX] = { false };
	int rc = 0;

	if (map->type != YAML_MAPPING_NODE)
		return yaml_error(r, map, "%s must be keys with values (key: value)", what ? what : "a study");
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top && rc == 0; p++)
		rc = take_pair(r, yaml_document_get_node(r->document, p->key),
				yaml_document_get_node(r->document, p->value), keys, what, into, is_taken);
	return rc;
}

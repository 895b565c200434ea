/* suite-keys: which keys are valid at which level, and their values; see suite-private.h. */
#include "duet/suite-private.h"

#include "base/cleanup.h"
#include "base/shell-words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MERGE_DEPTH_MAX = 8 };

static const struct key {
	const char *name;
	unsigned levels;
} keys[] = {
	{ "name", LEVEL_MAIN },
	{ "suite", LEVEL_MAIN | LEVEL_DUET },
	{ "verbose", LEVEL_MAIN },
	{ "seed", LEVEL_MAIN },
	{ "docker_command", LEVEL_MAIN },
	{ "duets", LEVEL_MAIN },
	{ "artifacts", LEVEL_MAIN },
	{ "schedule", LEVEL_MAIN },
	{ "remove_containers", LEVEL_MAIN | LEVEL_DUET },
	{ "duet_repetitions", LEVEL_MAIN | LEVEL_DUET },
	{ "syncduet_repetitions", LEVEL_MAIN | LEVEL_DUET },
	{ "sequential_repetitions", LEVEL_MAIN | LEVEL_DUET },
	{ "timeout", LEVEL_MAIN | LEVEL_DUET },
	{ "image", LEVEL_MAIN | LEVEL_DUET | LEVEL_SIDE },
	{ "results", LEVEL_MAIN | LEVEL_DUET | LEVEL_SIDE },
	{ "run_base", LEVEL_MAIN | LEVEL_DUET | LEVEL_SIDE },
	{ "syncduet_run_base", LEVEL_MAIN | LEVEL_DUET | LEVEL_SIDE },
	{ "run", LEVEL_SIDE },
	{ "A", LEVEL_DUET },
	{ "B", LEVEL_DUET },
};

enum { KEYS = sizeof(keys) / sizeof(*keys) };

/* Keys of an older version, and their replacements. */
static const struct {
	const char *old, *advice;
} old_keys[] = {
	{ "repetitions", "it is 'duet_repetitions' now" },
	{ "repetitions_type", "the order is always random and balanced now; leave it out" },
};

int suite_say(struct reader *r, const yaml_node_t *node, int errnum, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (node)
		return err_set(r->err, errnum, "%s:%zu: %s", r->path, node->start_mark.line + 1, text.data);
	return err_set(r->err, errnum, "%s: %s", r->path, text.data);
}

const char *suite_scalar(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

yaml_node_t *suite_node_at(struct reader *r, int index)
{
	return yaml_document_get_node(&r->document, index);
}

yaml_node_t *suite_find(struct reader *r, const yaml_node_t *mapping, const char *key, int depth)
{
	yaml_node_t *merged = NULL;

	if (!mapping || mapping->type != YAML_MAPPING_NODE || depth > MERGE_DEPTH_MAX)
		return NULL;
	for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < mapping->data.mapping.pairs.top; p++) {
		const char *name = suite_scalar(suite_node_at(r, p->key));

		if (name && !strcmp(name, key))
			return suite_node_at(r, p->value);
		if (name && !strcmp(name, "<<") && !merged)
			merged = suite_find(r, suite_node_at(r, p->value), key, depth + 1);
	}
	return merged;
}

/* Appends "a, b, c": the keys of a level. */
static void list_keys(struct buf *out, unsigned level)
{
	for (size_t i = 0; i < KEYS; i++)
		if (keys[i].levels & level)
			buf_addf(out, "%s%s", out->len ? ", " : "", keys[i].name);
}

static void advise(struct reader *r, const char *name, unsigned level)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;
	const char *candidates[KEYS + 1] = { NULL }, *nearest;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(old_keys) / sizeof(*old_keys); i++)
		if (!strcmp(old_keys[i].old, name)) {
			err_hint(r->err, "%s", old_keys[i].advice);
			return;
		}
	for (size_t i = 0; i < KEYS; i++)
		if (keys[i].levels & level)
			candidates[n++] = keys[i].name;
	nearest = words_nearest(name, candidates);
	list_keys(&list, level);
	if (nearest)
		err_hint(r->err, "did you mean '%s'? allowed here: %s", nearest, list.data);
	else
		err_hint(r->err, "allowed here: %s", list.data);
}

static bool is_known(const char *name, unsigned level)
{
	if (!strcmp(name, "<<"))
		return true;
	for (size_t i = 0; i < KEYS; i++)
		if (!strcmp(keys[i].name, name))
			return keys[i].levels & level;
	return false;
}

int suite_check_keys(struct reader *r, const yaml_node_t *mapping, unsigned level, const char *where)
{
	if (!mapping || mapping->type != YAML_MAPPING_NODE)
		return suite_say(r, mapping, EINVAL, "'%s' is not a mapping of keys to values", where);
	for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < mapping->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = suite_node_at(r, p->key);
		const char *name = suite_scalar(key);

		if (!name || !is_known(name, level)) {
			suite_say(r, key, EINVAL, "'%s' has the unknown key '%s'", where, name ? name : "(no text)");
			advise(r, name ? name : "", level);
			return -EINVAL;
		}
	}
	return 0;
}

yaml_node_t *suite_look(struct reader *r, const struct scope *s, const char *key)
{
	for (size_t i = 0; i < LEVELS; i++) {
		yaml_node_t *found = s->nodes[i] ? suite_find(r, s->nodes[i], key, 0) : NULL;

		if (found)
			return found;
	}
	return NULL;
}

static int suite_missing(struct reader *r, const struct scope *s, const char *key)
{
	return suite_say(r, s->nodes[0] ? s->nodes[0] : s->nodes[1], EINVAL, "'%s' has no '%s' and cannot inherit it",
			s->where, key);
}

int suite_get_text(struct reader *r, const struct scope *s, const char *key, const char *fallback, const char **out)
{
	const yaml_node_t *node = suite_look(r, s, key);
	const char *text = suite_scalar(node);

	if (!node && !fallback)
		return suite_missing(r, s, key);
	if (node && !text)
		return suite_say(r, node, EINVAL, "'%s' is not a text", key);
	*out = arena_strdup(r->arena, node ? text : fallback);
	return *out ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

int suite_get_bool(struct reader *r, const struct scope *s, const char *key, bool fallback, bool *out)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "False", "True", "No", "Yes",
		"Off", "On", "FALSE", "TRUE", NULL };
	const yaml_node_t *node = suite_look(r, s, key);
	const char *text = suite_scalar(node);

	*out = fallback;
	if (!node || (text && (!*text || !strcmp(text, "null") || !strcmp(text, "~"))))
		return 0;
	for (size_t i = 0; text && words[i]; i++)
		if (!strcmp(words[i], text)) {
			*out = i % 2;
			return 0;
		}
	return suite_say(r, node, EINVAL, "'%s' is neither true nor false", key);
}

int suite_get_int(struct reader *r, const struct scope *s, const char *key, int64_t fallback, int64_t least,
		int64_t most, int64_t *out)
{
	const yaml_node_t *node = suite_look(r, s, key);
	const char *text = suite_scalar(node);
	char *end;
	long long value;

	*out = fallback;
	if (!node || (text && (!strcmp(text, "null") || !strcmp(text, "~"))))
		return 0;
	errno = 0;
	value = text ? strtoll(text, &end, 10) : 0;
	if (!text || end == text || *end || errno)
		return suite_say(r, node, EINVAL, "'%s' is not a whole number", key);
	if (value < least || value > most)
		return suite_say(r, node, EINVAL, "'%s' is not between %lld and %lld", key, (long long)least,
				(long long)most);
	*out = value;
	return 0;
}

int suite_get_list(struct reader *r, const struct scope *s, const char *key, const char *const **out, size_t *count)
{
	const yaml_node_t *node = suite_look(r, s, key);
	size_t n = 0, most;
	const char **items;

	if (!node)
		return suite_missing(r, s, key);
	most = node->type == YAML_SEQUENCE_NODE
			? (size_t)(node->data.sequence.items.top - node->data.sequence.items.start)
			: 1;
	items = arena_alloc(r->arena, (most + 1) * sizeof(*items));
	if (!items)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	for (; n < most; n++) {
		const yaml_node_t *item = node->type == YAML_SEQUENCE_NODE
				? suite_node_at(r, node->data.sequence.items.start[n])
				: node;

		if (!suite_scalar(item) || !*suite_scalar(item))
			return suite_say(r, item, EINVAL, "'%s' is not a list of texts", key);
		items[n] = arena_strdup(r->arena, suite_scalar(item));
	}
	if (!n)
		return suite_say(r, node, EINVAL, "'%s' is an empty list", key);
	*out = items;
	*count = n;
	return 0;
}

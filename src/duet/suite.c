/*
 * suite: reading the configuration. libyaml makes a tree of nodes; a table says which keys may stand where.
 */
#include "duet/suite.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum level { LEVEL_MAIN = 1, LEVEL_DUET = 2, LEVEL_SIDE = 4 };
enum { LEVELS = 3, MERGE_DEPTH_MAX = 8, REPETITIONS_MAX = 1000000, DUETS_MAX = 4096 };

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

/* Keys of an older version, and what became of them. */
static const struct {
	const char *old, *advice;
} old_keys[] = {
	{ "repetitions", "it is 'duet_repetitions' now" },
	{ "repetitions_type", "the order is always random and balanced now; leave it out" },
};

struct reader {
	yaml_document_t document;
	const char *path;
	struct arena *arena;
	struct sonde_err *err;
};

static int say(struct reader *r, const yaml_node_t *node, int errnum, const char *fmt, ...)
		__attribute__((format(printf, 4, 5)));

static int say(struct reader *r, const yaml_node_t *node, int errnum, const char *fmt, ...)
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

static const char *scalar(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static yaml_node_t *node_at(struct reader *r, int index)
{
	return yaml_document_get_node(&r->document, index);
}

/* The value of a key in a mapping, or in the mappings that it merges in with `<<`. */
static yaml_node_t *find(struct reader *r, const yaml_node_t *mapping, const char *key, int depth)
{
	yaml_node_t *merged = NULL;

	if (!mapping || mapping->type != YAML_MAPPING_NODE || depth > MERGE_DEPTH_MAX)
		return NULL;
	for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < mapping->data.mapping.pairs.top; p++) {
		const char *name = scalar(node_at(r, p->key));

		if (name && !strcmp(name, key))
			return node_at(r, p->value);
		if (name && !strcmp(name, "<<") && !merged)
			merged = find(r, node_at(r, p->value), key, depth + 1);
	}
	return merged;
}

/* "a, b, c": the keys of a level. */
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

static int check_keys(struct reader *r, const yaml_node_t *mapping, unsigned level, const char *where)
{
	if (!mapping || mapping->type != YAML_MAPPING_NODE)
		return say(r, mapping, EINVAL, "'%s' is not a mapping of keys to values", where);
	for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < mapping->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = node_at(r, p->key);
		const char *name = scalar(key);

		if (!name || !is_known(name, level)) {
			say(r, key, EINVAL, "'%s' has the unknown key '%s'", where, name ? name : "(no text)");
			advise(r, name ? name : "", level);
			return -EINVAL;
		}
	}
	return 0;
}

/* Where a value is looked for, innermost first. */
struct scope {
	const yaml_node_t *nodes[LEVELS];
	const char *where;
};

static yaml_node_t *look(struct reader *r, const struct scope *s, const char *key)
{
	for (size_t i = 0; i < LEVELS; i++) {
		yaml_node_t *found = s->nodes[i] ? find(r, s->nodes[i], key, 0) : NULL;

		if (found)
			return found;
	}
	return NULL;
}

static int missing(struct reader *r, const struct scope *s, const char *key)
{
	return say(r, s->nodes[0] ? s->nodes[0] : s->nodes[1], EINVAL, "'%s' has no '%s' and cannot inherit it",
			s->where, key);
}

/* fallback NULL: it must be there. */
static int get_text(struct reader *r, const struct scope *s, const char *key, const char *fallback, const char **out)
{
	const yaml_node_t *node = look(r, s, key);
	const char *text = scalar(node);

	if (!node && !fallback)
		return missing(r, s, key);
	if (node && !text)
		return say(r, node, EINVAL, "'%s' is not a text", key);
	*out = arena_strdup(r->arena, node ? text : fallback);
	return *out ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

static int get_bool(struct reader *r, const struct scope *s, const char *key, bool fallback, bool *out)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "False", "True", "No", "Yes",
		"Off", "On", "FALSE", "TRUE", NULL };
	const yaml_node_t *node = look(r, s, key);
	const char *text = scalar(node);

	*out = fallback;
	if (!node || (text && (!*text || !strcmp(text, "null") || !strcmp(text, "~"))))
		return 0;
	for (size_t i = 0; text && words[i]; i++)
		if (!strcmp(words[i], text)) {
			*out = i % 2;
			return 0;
		}
	return say(r, node, EINVAL, "'%s' is neither true nor false", key);
}

static int get_int(struct reader *r, const struct scope *s, const char *key, int64_t fallback, int64_t least,
		int64_t most, int64_t *out)
{
	const yaml_node_t *node = look(r, s, key);
	const char *text = scalar(node);
	char *end;
	long long value;

	*out = fallback;
	if (!node || (text && (!strcmp(text, "null") || !strcmp(text, "~"))))
		return 0;
	errno = 0;
	value = text ? strtoll(text, &end, 10) : 0;
	if (!text || end == text || *end || errno)
		return say(r, node, EINVAL, "'%s' is not a whole number", key);
	if (value < least || value > most)
		return say(r, node, EINVAL, "'%s' is not between %lld and %lld", key, (long long)least,
				(long long)most);
	*out = value;
	return 0;
}

/* A list of texts; one text is a list of one. */
static int get_list(struct reader *r, const struct scope *s, const char *key, const char *const **out, size_t *count)
{
	const yaml_node_t *node = look(r, s, key);
	size_t n = 0, most;
	const char **items;

	if (!node)
		return missing(r, s, key);
	most = node->type == YAML_SEQUENCE_NODE
			? (size_t)(node->data.sequence.items.top - node->data.sequence.items.start)
			: 1;
	items = arena_alloc(r->arena, (most + 1) * sizeof(*items));
	if (!items)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	for (; n < most; n++) {
		const yaml_node_t *item = node->type == YAML_SEQUENCE_NODE
				? node_at(r, node->data.sequence.items.start[n])
				: node;

		if (!scalar(item) || !*scalar(item))
			return say(r, item, EINVAL, "'%s' is not a list of texts", key);
		items[n] = arena_strdup(r->arena, scalar(item));
	}
	if (!n)
		return say(r, node, EINVAL, "'%s' is an empty list", key);
	*out = items;
	*count = n;
	return 0;
}

/* run_base and run, with a blank between. */
static const char *join(struct reader *r, const char *base, const char *run)
{
	return *base ? arena_printf(r->arena, "%s %s", base, run) : run;
}

static int read_side(struct reader *r, const struct scope *s, struct duet_suite_side *side)
{
	const char *base = "", *sync_base = "", *run = NULL;
	const yaml_node_t *own = find(r, s->nodes[0], "run", 0);
	size_t count;
	int rc = get_text(r, s, "image", NULL, &side->image);

	if (!rc && !own)
		return say(r, s->nodes[0], EINVAL, "'%s' has no 'run'", s->where);
	if (!rc)
		rc = get_list(r, s, "results", &side->results, &count);
	for (size_t i = 0; !rc && i < count; i++)
		if (side->results[i][0] != '/')
			return say(r, look(r, s, "results"), EINVAL, "'%s' in 'results' is not an absolute path",
					side->results[i]);
	if (!rc)
		rc = get_text(r, s, "run", NULL, &run);
	if (!rc)
		rc = get_text(r, s, "run_base", "", &base);
	if (!rc)
		rc = get_text(r, s, "syncduet_run_base", "", &sync_base);
	if (rc)
		return rc;
	if (!*side->image || !*run)
		return say(r, s->nodes[0], EINVAL, "'%s' has an empty 'image' or 'run'", s->where);
	side->run = join(r, base, run);
	side->sync_run = *sync_base ? join(r, sync_base, run) : NULL;
	return 0;
}

static int read_sides(struct reader *r, const struct scope *duet, const yaml_node_t *section, struct duet_benchmark *b)
{
	for (int side = 0; side < DUET_SIDES; side++) {
		const char *letter = side == DUET_A ? "A" : "B";
		struct scope s = { .nodes = { find(r, section, letter, 0), duet->nodes[1], duet->nodes[2] },
			.where = arena_printf(r->arena, "%s.%s", b->name, letter) };
		int rc;

		if (!s.nodes[0] && side == DUET_B) {
			b->sides[DUET_B] = b->sides[DUET_A];
			b->is_aa = true;
			return 0;
		}
		if (!s.nodes[0])
			return say(r, section, EINVAL, "'%s' has no 'A'", b->name);
		rc = check_keys(r, s.nodes[0], LEVEL_SIDE, s.where);
		if (!rc)
			rc = read_side(r, &s, &b->sides[side]);
		if (rc)
			return rc;
	}
	return 0;
}

/* Synchronous runs need commands of their own; whether these ever wait is for the runner to warn of. */
static int check_sync(struct reader *r, const yaml_node_t *section, struct duet_benchmark *b)
{
	b->has_barrier = true;
	for (int side = 0; side < DUET_SIDES && b->repetitions[DUET_SYNC]; side++) {
		const char *run = b->sides[side].sync_run;

		if (!run)
			return say(r, section, EINVAL, "'%s' has syncduet_repetitions, but %c no 'syncduet_run_base'",
					b->name, "AB"[side]);
		b->has_barrier &= strstr(run, "$$") != NULL;
	}
	return 0;
}

static int read_benchmark(struct reader *r, const yaml_node_t *root, const yaml_node_t *main, const char *name,
		struct duet_benchmark *b)
{
	const yaml_node_t *section = find(r, root, name, 0);
	struct scope s = { .nodes = { NULL, section, main }, .where = name };
	int64_t timeout = 0;
	int rc;

	b->name = name;
	if (!section)
		return say(r, main, EINVAL, "'%s' is in 'duets' but has no section of that name", name);
	if (!strcmp(name, "artifacts") || !strcmp(name, "duetbench"))
		return say(r, section, EINVAL, "a duet cannot be called '%s'", name);
	rc = check_keys(r, section, LEVEL_DUET, name);
	if (!rc)
		rc = get_text(r, &s, "suite", NULL, &b->suite);
	if (!rc)
		rc = get_bool(r, &s, "remove_containers", true, &b->has_removal);
	if (!rc)
		rc = get_int(r, &s, "duet_repetitions", 1, 0, REPETITIONS_MAX, &b->repetitions[DUET_ASYNC]);
	if (!rc)
		rc = get_int(r, &s, "syncduet_repetitions", 0, 0, REPETITIONS_MAX, &b->repetitions[DUET_SYNC]);
	if (!rc)
		rc = get_int(r, &s, "sequential_repetitions", 0, 0, REPETITIONS_MAX, &b->repetitions[DUET_SEQ]);
	if (!rc)
		rc = get_int(r, &s, "timeout", 0, INT32_MIN, INT32_MAX, &timeout);
	if (!rc)
		rc = read_sides(r, &s, section, b);
	b->timeout_ns = timeout > 0 ? timeout * 1000000000 : 0;
	return rc ? rc : check_sync(r, section, b);
}

static int read_benchmarks(struct reader *r, const yaml_node_t *root, const struct scope *main, struct duet_suite *out)
{
	const char *const *names;
	size_t count;
	int rc = get_list(r, main, "duets", &names, &count);

	if (rc)
		return rc;
	if (count > DUETS_MAX)
		return say(r, main->nodes[2], E2BIG, "there are %zu duets, more than %d", count, DUETS_MAX);
	out->benchmarks = arena_alloc(r->arena, count * sizeof(*out->benchmarks));
	if (!out->benchmarks)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	for (size_t i = 0; i < count && !rc; i++)
		rc = read_benchmark(r, root, main->nodes[2], names[i], &out->benchmarks[i]);
	out->benchmark_count = count;
	return rc;
}

static bool is_plain_name(const char *name)
{
	return name && *name && *name != '.' && !strchr(name, '/');
}

static int read_artifacts(struct reader *r, const yaml_node_t *main, struct duet_suite *out)
{
	const yaml_node_t *node = find(r, main, "artifacts", 0);
	size_t n;

	if (!node || (scalar(node) && !*scalar(node)))
		return 0;
	if (node->type != YAML_MAPPING_NODE)
		return say(r, node, EINVAL, "'artifacts' is not a mapping of names to commands");
	n = (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
	out->artifacts = arena_alloc(r->arena, (n + 1) * sizeof(*out->artifacts));
	if (!out->artifacts)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_pair_t *p = &node->data.mapping.pairs.start[i];
		const char *name = scalar(node_at(r, p->key)), *command = scalar(node_at(r, p->value));

		if (!is_plain_name(name) || !command || !*command)
			return say(r, node_at(r, p->key), EINVAL, "an artifact needs a plain name and a command");
		out->artifacts[i] = (struct duet_artifact){ arena_strdup(r->arena, name),
			arena_strdup(r->arena, command) };
	}
	out->artifact_count = n;
	return 0;
}

static int read_schedule(struct reader *r, const struct scope *s, bool *is_shuffled)
{
	const char *text = NULL;
	int rc = get_text(r, s, "schedule", "sequential", &text);

	if (rc || !text)
		return rc;
	*is_shuffled = !strcmp(text, "randomized_interleaving_trials");
	if (*is_shuffled || !strcmp(text, "sequential"))
		return 0;
	return say(r, look(r, s, "schedule"), EINVAL,
			"'schedule' is neither sequential nor randomized_interleaving_trials");
}

static int read_main(struct reader *r, const yaml_node_t *root, struct duet_suite *out)
{
	const yaml_node_t *main = find(r, root, "duetbench", 0);
	struct scope s = { .nodes = { NULL, NULL, main }, .where = "duetbench" };
	int64_t seed = -1;
	const char *suite = NULL;
	int rc;

	if (!main)
		return say(r, root, EINVAL, "there is no section 'duetbench'");
	rc = check_keys(r, main, LEVEL_MAIN, "duetbench");
	if (!rc)
		rc = get_text(r, &s, "suite", "duet", &suite);
	if (!rc)
		rc = get_text(r, &s, "name", suite, &out->name);
	if (!rc)
		rc = get_text(r, &s, "docker_command", "docker", &out->docker);
	if (!rc)
		rc = get_bool(r, &s, "verbose", false, &out->is_verbose);
	if (!rc)
		rc = get_int(r, &s, "seed", -1, INT64_MIN, INT64_MAX, &seed);
	if (!rc)
		rc = read_schedule(r, &s, &out->is_shuffled);
	if (!rc)
		rc = read_artifacts(r, main, out);
	out->has_seed = look(r, &s, "seed") != NULL;
	out->seed = (uint64_t)seed;
	return rc ? rc : read_benchmarks(r, root, &s, out);
}

/* Sections that no duet names are typing errors. */
static int check_sections(struct reader *r, const yaml_node_t *root, const struct duet_suite *s)
{
	for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = node_at(r, p->key);
		const char *name = scalar(key);
		bool is_used = name && (!strcmp(name, "duetbench") || name[0] == '.' || !strncmp(name, "x-", 2));

		for (size_t i = 0; name && !is_used && i < s->benchmark_count; i++)
			is_used = !strcmp(name, s->benchmarks[i].name);
		if (!is_used && !(name && find(r, node_at(r, p->value), "A", 0)))
			return say(r, key, EINVAL, "the section '%s' is neither 'duetbench' nor a duet",
					name ? name : "?");
	}
	return 0;
}

int duet_suite_parse(struct duet_suite *s, const char *path, const char *text, size_t bytes, struct arena *arena,
		struct sonde_err *err)
{
	struct reader r = { .path = path, .arena = arena, .err = err };
	yaml_parser_t parser;
	const yaml_node_t *root;
	int rc;

	*s = (struct duet_suite){ .path = path };
	if (!yaml_parser_initialize(&parser))
		return err_sys(err, ENOMEM, "cannot read '%s'", path);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	if (!yaml_parser_load(&parser, &r.document)) {
		rc = err_set(err, EINVAL, "%s:%zu: not YAML: %s", path, parser.problem_mark.line + 1,
				parser.problem ? parser.problem : "cannot be read");
		yaml_parser_delete(&parser);
		return rc;
	}
	root = yaml_document_get_root_node(&r.document);
	if (!root || root->type != YAML_MAPPING_NODE)
		rc = err_set(err, EINVAL, "%s: is not a mapping of sections", path);
	else
		rc = read_main(&r, root, s);
	if (!rc)
		rc = check_sections(&r, root, s);
	yaml_document_delete(&r.document);
	yaml_parser_delete(&parser);
	return rc;
}

int duet_suite_load(struct duet_suite *s, const char *path, struct arena *arena, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, path, DUET_SUITE_BYTES_MAX, &text, err);

	return rc ? rc : duet_suite_parse(s, arena_strdup(arena, path), text.data, text.len, arena, err);
}

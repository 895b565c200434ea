/*
 * suite: reads the configuration. A level inherits by a copy: a duet starts with the values of `duetbench`, and a side
 * with those of its duet.
 */
#include "duet/suite.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "config/config.h"
#include "duet/duet.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS_MAX = 1000000, DUETS_MAX = 4096 };

struct side_keys {
	const char *image, *run_base, *sync_run_base, *run;
	const char *const *results;
};

struct duet_keys {
	struct side_keys side; /* first: the rows of SIDE_KEYS serve every level */
	const char *suite;
	bool has_removal;
	int64_t repetitions[DUET_DESIGNS], timeout;
	yaml_node_t *sides[DUET_SIDES];
};

struct main_keys {
	struct duet_keys duet; /* first, as above */
	const char *name, *docker;
	bool is_verbose;
	int schedule;
	int64_t seed;
	const char *const *duets;
	yaml_node_t *artifacts;
};

/* A list of strings that are not empty; a single string is a list of one. */
static int read_strings(struct config_reader *r, yaml_node_t *node, const char *key, const char *const **out)
{
	const char *text = config_text(node), **items;
	size_t n = 0;

	while (!text && config_item(r, node, n))
		n++;
	items = arena_alloc(r->arena, (n + 2) * sizeof(*items));
	if (!items)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	if (!text && !n)
		return config_error(r, node, "'%s' is an empty list", key);
	for (size_t i = 0; i < n || (text && i == 0); i++) {
		yaml_node_t *item = text ? node : config_item(r, node, i);

		if (!config_text(item) || !*config_text(item))
			return config_error(r, item, "'%s' must be a list of strings", key);
		items[i] = arena_strdup(r->arena, config_text(item));
	}
	*out = items;
	return 0;
}

static int take_results(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct side_keys *k = into;
	int rc = read_strings(r, node, "results", &k->results);

	for (size_t i = 0; rc == 0 && k->results[i]; i++)
		if (k->results[i][0] != '/')
			rc = config_error(r, node, "'%s' in 'results' is not an absolute path", k->results[i]);
	return rc;
}

static int take_duets(struct config_reader *r, yaml_node_t *node, void *into)
{
	return read_strings(r, node, "duets", &((struct main_keys *)into)->duets);
}

static int take_artifacts(struct config_reader *r, yaml_node_t *node, void *into)
{
	((struct main_keys *)into)->artifacts = node;
	return 0;
}

static int take_a(struct config_reader *r, yaml_node_t *node, void *into)
{
	((struct duet_keys *)into)->sides[DUET_A] = node;
	return 0;
}

static int take_b(struct config_reader *r, yaml_node_t *node, void *into)
{
	((struct duet_keys *)into)->sides[DUET_B] = node;
	return 0;
}

/* Keys of older versions. */
static int take_repetitions(struct config_reader *r, yaml_node_t *node, void *into)
{
	return config_error(r, node, "unknown key 'repetitions': it was renamed to 'duet_repetitions'");
}

static int take_repetitions_type(struct config_reader *r, yaml_node_t *node, void *into)
{
	return config_error(r, node,
			"unknown key 'repetitions_type': the order is always random and balanced; remove it");
}

#define SIDE_KEYS \
	{ "image", CONFIG_TEXT, offsetof(struct side_keys, image) }, \
			{ "run_base", CONFIG_TEXT, offsetof(struct side_keys, run_base) }, \
			{ "syncduet_run_base", CONFIG_TEXT, offsetof(struct side_keys, sync_run_base) }, \
	{ \
		"results", CONFIG_OTHER, .take = take_results \
	}
#define REPETITIONS(design) offsetof(struct duet_keys, repetitions[design]), .max = REPETITIONS_MAX
#define DUET_KEYS \
	SIDE_KEYS, { "suite", CONFIG_TEXT, offsetof(struct duet_keys, suite) }, \
			{ "remove_containers", CONFIG_TRUTH, offsetof(struct duet_keys, has_removal) }, \
			{ "duet_repetitions", CONFIG_WHOLE, REPETITIONS(DUET_ASYNC) }, \
			{ "syncduet_repetitions", CONFIG_WHOLE, REPETITIONS(DUET_SYNC) }, \
			{ "sequential_repetitions", CONFIG_WHOLE, REPETITIONS(DUET_SEQ) }, \
			{ "timeout", CONFIG_WHOLE, offsetof(struct duet_keys, timeout), .min = INT32_MIN, \
				.max = INT32_MAX }, \
			{ "repetitions", CONFIG_OTHER, .take = take_repetitions }, \
	{ \
		"repetitions_type", CONFIG_OTHER, .take = take_repetitions_type \
	}

static const char *const schedules[] = { "sequential", "randomized_interleaving_trials", NULL };

static const struct config_key side_keys[] = {
	SIDE_KEYS,
	{ "run", CONFIG_TEXT, offsetof(struct side_keys, run) },
	{ NULL },
};

static const struct config_key duet_keys[] = {
	DUET_KEYS,
	{ "A", CONFIG_OTHER, .take = take_a },
	{ "B", CONFIG_OTHER, .take = take_b },
	{ NULL },
};

static const struct config_key main_keys[] = {
	DUET_KEYS,
	{ "name", CONFIG_TEXT, offsetof(struct main_keys, name) },
	{ "docker_command", CONFIG_TEXT, offsetof(struct main_keys, docker) },
	{ "verbose", CONFIG_TRUTH, offsetof(struct main_keys, is_verbose) },
	{ "schedule", CONFIG_WORD, offsetof(struct main_keys, schedule), .words = schedules },
	{ "seed", CONFIG_WHOLE, offsetof(struct main_keys, seed), .min = -INT64_MAX },
	{ "duets", CONFIG_OTHER, .take = take_duets },
	{ "artifacts", CONFIG_OTHER, .take = take_artifacts },
	{ NULL },
};

static int read_side(struct config_reader *r, yaml_node_t *node, const char *where, const struct side_keys *inherited,
		struct duet_suite_side *side)
{
	struct side_keys k = *inherited;
	int rc = config_take_map(r, node, side_keys, where, &k);

	if (rc < 0)
		return rc;
	if (!k.run || !k.image || !k.results)
		return config_error(r, node, "missing '%s' in %s",
				!k.run                     ? "run"
						: !k.image ? "image"
							   : "results",
				where);
	if (!*k.image || !*k.run)
		return config_error(r, node, "empty 'image' or 'run' in %s", where);
	side->image = k.image;
	side->results = k.results;
	side->run = *k.run_base ? arena_printf(r->arena, "%s %s", k.run_base, k.run) : k.run;
	side->sync_run = *k.sync_run_base ? arena_printf(r->arena, "%s %s", k.sync_run_base, k.run) : NULL;
	return side->run ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

static int read_sides(struct config_reader *r, yaml_node_t *section, const struct duet_keys *k,
		struct duet_benchmark *b)
{
	if (!k->sides[DUET_A])
		return config_error(r, section, "missing 'A' in '%s'", b->name);
	b->has_barrier = true;
	for (int side = 0; side < DUET_SIDES; side++) {
		const char *where = arena_printf(r->arena, "'%s.%c'", b->name, "AB"[side]);
		int rc = 0;

		/* Without B, A is compared with itself. */
		b->is_aa = !k->sides[side];
		if (b->is_aa)
			b->sides[side] = b->sides[DUET_A];
		else
			rc = read_side(r, k->sides[side], where ? where : b->name, &k->side, &b->sides[side]);
		if (rc < 0)
			return rc;
		/* Synchronous runs need separate commands; the runner warns if these never wait. */
		if (b->repetitions[DUET_SYNC] && !b->sides[side].sync_run)
			return config_error(r, section,
					"missing 'syncduet_run_base' in %s: it has syncduet_repetitions", where);
		if (b->repetitions[DUET_SYNC] && !strstr(b->sides[side].sync_run, "$$"))
			b->has_barrier = false;
	}
	return 0;
}

static int read_benchmark(struct config_reader *r, yaml_node_t *root, const struct main_keys *main, const char *name,
		struct duet_benchmark *b)
{
	yaml_node_t *section = config_find(r, root, name);
	const char *where = arena_printf(r->arena, "'%s'", name);
	struct duet_keys k = main->duet;
	int rc;

	b->name = name;
	if (!section)
		return config_error(r, root, "missing section '%s', which is in 'duets'", name);
	if (!strcmp(name, "artifacts") || !strcmp(name, "duetbench"))
		return config_error(r, section, "invalid name of a duet '%s'", name);
	rc = config_take_map(r, section, duet_keys, where, &k);
	if (rc < 0)
		return rc;
	if (!k.suite)
		return config_error(r, section, "missing 'suite' in '%s'", name);
	b->suite = k.suite;
	b->has_removal = k.has_removal;
	memcpy(b->repetitions, k.repetitions, sizeof(b->repetitions));
	b->timeout_ns = k.timeout > 0 ? k.timeout * 1000000000 : 0;
	return read_sides(r, section, &k, b);
}

static int read_benchmarks(struct config_reader *r, yaml_node_t *root, const struct main_keys *main,
		struct duet_suite *out)
{
	size_t count = 0;
	int rc = 0;

	while (main->duets[count])
		count++;
	if (count > DUETS_MAX)
		return config_error(r, root, "too many duets: %zu (maximum %d)", count, DUETS_MAX);
	out->benchmarks = arena_alloc(r->arena, count * sizeof(*out->benchmarks));
	if (!out->benchmarks)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = read_benchmark(r, root, main, main->duets[i], &out->benchmarks[i]);
	out->benchmark_count = count;
	return rc;
}

static int read_artifacts(struct config_reader *r, const yaml_node_t *node, struct duet_suite *out)
{
	size_t n;

	if (!node || (config_text(node) && !*config_text(node)))
		return 0;
	if (node->type != YAML_MAPPING_NODE)
		return config_error(r, node, "'artifacts' must be a mapping of names to commands");
	n = (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
	out->artifacts = arena_alloc(r->arena, (n + 1) * sizeof(*out->artifacts));
	if (!out->artifacts)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_pair_t *p = &node->data.mapping.pairs.start[i];
		const yaml_node_t *key = yaml_document_get_node(r->document, p->key);
		const char *name = config_text(key),
			   *command = config_text(yaml_document_get_node(r->document, p->value));

		/* The name becomes a file's. */
		if (!name || !*name || *name == '.' || strchr(name, '/') || !command || !*command)
			return config_error(r, key, "an artifact needs a plain name and a command");
		out->artifacts[i] = (struct duet_artifact){ arena_strdup(r->arena, name),
			arena_strdup(r->arena, command) };
	}
	out->artifact_count = n;
	return 0;
}

/* Sections that are not in the list of duets are typing errors. */
static int check_sections(struct config_reader *r, yaml_node_t *root, const struct duet_suite *s)
{
	for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top; p++) {
		yaml_node_t *key = yaml_document_get_node(r->document, p->key);
		const char *name = config_text(key);
		bool is_used = name && (!strcmp(name, "duetbench") || name[0] == '.' || !strncmp(name, "x-", 2));

		for (size_t i = 0; name && !is_used && i < s->benchmark_count; i++)
			is_used = !strcmp(name, s->benchmarks[i].name);
		if (!is_used && !(name && config_find(r, yaml_document_get_node(r->document, p->value), "A")))
			return config_error(r, key, "unknown section '%s' (expected 'duetbench' or a duet)",
					name ? name : "?");
	}
	return 0;
}

static int read_root(struct config_reader *r, yaml_node_t *root)
{
	struct main_keys k = { .duet = { .side = { .run_base = "", .sync_run_base = "" },
					       .has_removal = true,
					       .repetitions[DUET_ASYNC] = 1 },
		.docker = "docker",
		.seed = INT64_MIN };
	struct duet_suite *out = r->context;
	yaml_node_t *main = config_find(r, root, "duetbench");
	int rc;

	if (root->type != YAML_MAPPING_NODE)
		return config_error(r, root, "a suite must be a mapping of sections");
	if (!main)
		return config_error(r, root, "missing section 'duetbench'");
	rc = config_take_map(r, main, main_keys, "'duetbench'", &k);
	if (rc == 0 && !k.duets)
		rc = config_error(r, main, "missing 'duets' in 'duetbench'");
	if (rc < 0)
		return rc;
	out->name = k.name ? k.name : k.duet.suite ? k.duet.suite : "duet";
	out->docker = k.docker;
	out->is_verbose = k.is_verbose;
	out->is_shuffled = k.schedule == 1;
	out->has_seed = k.seed != INT64_MIN;
	out->seed = out->has_seed ? (uint64_t)k.seed : UINT64_MAX;
	rc = read_artifacts(r, k.artifacts, out);
	if (rc == 0)
		rc = read_benchmarks(r, root, &k, out);
	return rc < 0 ? rc : check_sections(r, root, out);
}

int duet_suite_parse(struct duet_suite *s, const char *path, const char *text, size_t bytes, struct arena *arena,
		struct sonde_err *err)
{
	struct config_reader r = { .path = path, .arena = arena, .err = err, .what = "a suite", .context = s };

	*s = (struct duet_suite){ .path = path };
	return config_parse(&r, text, bytes, read_root);
}

int duet_suite_load(struct duet_suite *s, const char *path, struct arena *arena, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, path, DUET_SUITE_BYTES_MAX, &text, err);

	return rc ? rc : duet_suite_parse(s, arena_strdup(arena, path), text.data, text.len, arena, err);
}

/* Converts a configuration to a list of steps. */

static const enum duet_design designs[] = { DUET_ASYNC, DUET_SYNC, DUET_SEQ };

enum { DESIGNS = sizeof(designs) / sizeof(*designs) };

static bool is_wanted(const char *name, const char *const *only)
{
	if (!only || !*only)
		return true;
	for (; *only; only++)
		if (!strcmp(*only, name))
			return true;
	return false;
}

/* Adds the runs of one benchmark in one design; a sequential run is two steps. */
static size_t add_steps(struct duet_step *out, const struct duet_benchmark *b, enum duet_design design, uint64_t seed)
{
	struct duet_plan plan;
	size_t n = 0;

	duet_plan_init(&plan, design, 1, false, seed);
	for (int64_t run = 0; run < b->repetitions[design]; run++) {
		struct duet_turn turn;

		duet_plan_next(&plan, &turn);
		out[n++] = (struct duet_step){ .benchmark = b,
			.design = design,
			.runid = run,
			.is_first_b = turn.is_first_b };
		if (design == DUET_SEQ)
			out[n++] = (struct duet_step){ .benchmark = b, .design = design, .runid = run, .side = DUET_B };
	}
	return n;
}

int duet_suite_plan(const struct duet_suite *s, const char *const *only, uint64_t seed, struct arena *arena,
		struct duet_step **steps, size_t *count, struct sonde_err *err)
{
	struct stats_rng rng;
	size_t total = 0, n = 0;

	for (size_t i = 0; i < s->benchmark_count; i++)
		for (size_t d = 0; d < DESIGNS && is_wanted(s->benchmarks[i].name, only); d++)
			total += (size_t)s->benchmarks[i].repetitions[designs[d]] * (designs[d] == DUET_SEQ ? 2 : 1);
	*steps = arena_alloc(arena, (total + 1) * sizeof(**steps));
	if (!*steps)
		return err_sys(err, ENOMEM, "cannot plan %zu steps", total);
	for (size_t i = 0; i < s->benchmark_count; i++)
		for (size_t d = 0; d < DESIGNS && is_wanted(s->benchmarks[i].name, only); d++)
			n += add_steps(*steps + n, &s->benchmarks[i], designs[d], seed + i);
	stats_rng_init(&rng, seed, 0x5c);
	if (s->is_shuffled)
		stats_rng_shuffle(&rng, *steps, n, sizeof(**steps));
	*count = n;
	return 0;
}

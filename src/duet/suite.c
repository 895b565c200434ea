/* suite: reads the configuration. libyaml builds a tree of nodes, suite-keys.c looks up values in it. */
#include "duet/suite-private.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/shell-words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS_MAX = 1000000, DUETS_MAX = 4096 };

/* Joins run_base and run with a blank. */
static const char *join(struct reader *r, const char *base, const char *run)
{
	return *base ? arena_printf(r->arena, "%s %s", base, run) : run;
}

static int read_side(struct reader *r, const struct scope *s, struct duet_suite_side *side)
{
	const char *base = "", *sync_base = "", *run = NULL;
	const yaml_node_t *own = suite_find(r, s->nodes[0], "run", 0);
	size_t count;
	int rc = suite_get_text(r, s, "image", NULL, &side->image);

	if (!rc && !own)
		return suite_say(r, s->nodes[0], EINVAL, "'%s' has no 'run'", s->where);
	if (!rc)
		rc = suite_get_list(r, s, "results", &side->results, &count);
	for (size_t i = 0; !rc && i < count; i++)
		if (side->results[i][0] != '/')
			return suite_say(r, suite_look(r, s, "results"), EINVAL,
					"'%s' in 'results' is not an absolute path", side->results[i]);
	if (!rc)
		rc = suite_get_text(r, s, "run", NULL, &run);
	if (!rc)
		rc = suite_get_text(r, s, "run_base", "", &base);
	if (!rc)
		rc = suite_get_text(r, s, "syncduet_run_base", "", &sync_base);
	if (rc)
		return rc;
	if (!*side->image || !*run)
		return suite_say(r, s->nodes[0], EINVAL, "'%s' has an empty 'image' or 'run'", s->where);
	side->run = join(r, base, run);
	side->sync_run = *sync_base ? join(r, sync_base, run) : NULL;
	return 0;
}

static int read_sides(struct reader *r, const struct scope *duet, const yaml_node_t *section, struct duet_benchmark *b)
{
	for (int side = 0; side < DUET_SIDES; side++) {
		const char *letter = side == DUET_A ? "A" : "B";
		struct scope s = { .nodes = { suite_find(r, section, letter, 0), duet->nodes[1], duet->nodes[2] },
			.where = arena_printf(r->arena, "%s.%s", b->name, letter) };
		int rc;

		if (!s.nodes[0] && side == DUET_B) {
			b->sides[DUET_B] = b->sides[DUET_A];
			b->is_aa = true;
			return 0;
		}
		if (!s.nodes[0])
			return suite_say(r, section, EINVAL, "'%s' has no 'A'", b->name);
		rc = suite_check_keys(r, s.nodes[0], LEVEL_SIDE, s.where);
		if (!rc)
			rc = read_side(r, &s, &b->sides[side]);
		if (rc)
			return rc;
	}
	return 0;
}

/* Synchronous runs need separate commands; the runner warns if these never wait. */
static int check_sync(struct reader *r, const yaml_node_t *section, struct duet_benchmark *b)
{
	b->has_barrier = true;
	for (int side = 0; side < DUET_SIDES && b->repetitions[DUET_SYNC]; side++) {
		const char *run = b->sides[side].sync_run;

		if (!run)
			return suite_say(r, section, EINVAL,
					"'%s' has syncduet_repetitions, but %c no 'syncduet_run_base'", b->name,
					"AB"[side]);
		b->has_barrier &= strstr(run, "$$") != NULL;
	}
	return 0;
}

static int read_benchmark(struct reader *r, const yaml_node_t *root, const yaml_node_t *main, const char *name,
		struct duet_benchmark *b)
{
	const yaml_node_t *section = suite_find(r, root, name, 0);
	struct scope s = { .nodes = { NULL, section, main }, .where = name };
	int64_t timeout = 0;
	int rc;

	b->name = name;
	if (!section)
		return suite_say(r, main, EINVAL, "'%s' is in 'duets' but has no section of that name", name);
	if (!strcmp(name, "artifacts") || !strcmp(name, "duetbench"))
		return suite_say(r, section, EINVAL, "a duet cannot be called '%s'", name);
	rc = suite_check_keys(r, section, LEVEL_DUET, name);
	if (!rc)
		rc = suite_get_text(r, &s, "suite", NULL, &b->suite);
	if (!rc)
		rc = suite_get_bool(r, &s, "remove_containers", true, &b->has_removal);
	if (!rc)
		rc = suite_get_int(r, &s, "duet_repetitions", 1, 0, REPETITIONS_MAX, &b->repetitions[DUET_ASYNC]);
	if (!rc)
		rc = suite_get_int(r, &s, "syncduet_repetitions", 0, 0, REPETITIONS_MAX, &b->repetitions[DUET_SYNC]);
	if (!rc)
		rc = suite_get_int(r, &s, "sequential_repetitions", 0, 0, REPETITIONS_MAX, &b->repetitions[DUET_SEQ]);
	if (!rc)
		rc = suite_get_int(r, &s, "timeout", 0, INT32_MIN, INT32_MAX, &timeout);
	if (!rc)
		rc = read_sides(r, &s, section, b);
	b->timeout_ns = timeout > 0 ? timeout * 1000000000 : 0;
	return rc ? rc : check_sync(r, section, b);
}

static int read_benchmarks(struct reader *r, const yaml_node_t *root, const struct scope *main, struct duet_suite *out)
{
	const char *const *names;
	size_t count;
	int rc = suite_get_list(r, main, "duets", &names, &count);

	if (rc)
		return rc;
	if (count > DUETS_MAX)
		return suite_say(r, main->nodes[2], E2BIG, "there are %zu duets, more than %d", count, DUETS_MAX);
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
	const yaml_node_t *node = suite_find(r, main, "artifacts", 0);
	size_t n;

	if (!node || (suite_scalar(node) && !*suite_scalar(node)))
		return 0;
	if (node->type != YAML_MAPPING_NODE)
		return suite_say(r, node, EINVAL, "'artifacts' is not a mapping of names to commands");
	n = (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
	out->artifacts = arena_alloc(r->arena, (n + 1) * sizeof(*out->artifacts));
	if (!out->artifacts)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_pair_t *p = &node->data.mapping.pairs.start[i];
		const char *name = suite_scalar(suite_node_at(r, p->key)),
			   *command = suite_scalar(suite_node_at(r, p->value));

		if (!is_plain_name(name) || !command || !*command)
			return suite_say(r, suite_node_at(r, p->key), EINVAL,
					"an artifact needs a plain name and a command");
		out->artifacts[i] = (struct duet_artifact){ arena_strdup(r->arena, name),
			arena_strdup(r->arena, command) };
	}
	out->artifact_count = n;
	return 0;
}

static int read_schedule(struct reader *r, const struct scope *s, bool *is_shuffled)
{
	const char *text = NULL;
	int rc = suite_get_text(r, s, "schedule", "sequential", &text);

	if (rc || !text)
		return rc;
	*is_shuffled = !strcmp(text, "randomized_interleaving_trials");
	if (*is_shuffled || !strcmp(text, "sequential"))
		return 0;
	return suite_say(r, suite_look(r, s, "schedule"), EINVAL,
			"'schedule' is neither sequential nor randomized_interleaving_trials");
}

static int read_main(struct reader *r, const yaml_node_t *root, struct duet_suite *out)
{
	const yaml_node_t *main = suite_find(r, root, "duetbench", 0);
	struct scope s = { .nodes = { NULL, NULL, main }, .where = "duetbench" };
	int64_t seed = -1;
	const char *suite = NULL;
	int rc;

	if (!main)
		return suite_say(r, root, EINVAL, "there is no section 'duetbench'");
	rc = suite_check_keys(r, main, LEVEL_MAIN, "duetbench");
	if (!rc)
		rc = suite_get_text(r, &s, "suite", "duet", &suite);
	if (!rc)
		rc = suite_get_text(r, &s, "name", suite, &out->name);
	if (!rc)
		rc = suite_get_text(r, &s, "docker_command", "docker", &out->docker);
	if (!rc)
		rc = suite_get_bool(r, &s, "verbose", false, &out->is_verbose);
	if (!rc)
		rc = suite_get_int(r, &s, "seed", -1, INT64_MIN, INT64_MAX, &seed);
	if (!rc)
		rc = read_schedule(r, &s, &out->is_shuffled);
	if (!rc)
		rc = read_artifacts(r, main, out);
	out->has_seed = suite_look(r, &s, "seed") != NULL;
	out->seed = (uint64_t)seed;
	return rc ? rc : read_benchmarks(r, root, &s, out);
}

/* Sections that are not in the list of duets are typing errors. */
static int check_sections(struct reader *r, const yaml_node_t *root, const struct duet_suite *s)
{
	for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = suite_node_at(r, p->key);
		const char *name = suite_scalar(key);
		bool is_used = name && (!strcmp(name, "duetbench") || name[0] == '.' || !strncmp(name, "x-", 2));

		for (size_t i = 0; name && !is_used && i < s->benchmark_count; i++)
			is_used = !strcmp(name, s->benchmarks[i].name);
		if (!is_used && !(name && suite_find(r, suite_node_at(r, p->value), "A", 0)))
			return suite_say(r, key, EINVAL, "the section '%s' is neither 'duetbench' nor a duet",
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

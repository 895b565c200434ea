#include "tune/study.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/shell-words.h"
#include "tune/study-metrics.h"
#include "tune/study-params.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TRIALS_USUAL = 50, CONFIRM_USUAL = 10, SETTLE_USUAL = 2 };

static const char *const stop_words[] = { "none", "median", "asha", NULL };

static const struct config_key file_keys[] = {
	{ "path", CONFIG_TEXT, offsetof(struct tune_file, path) },
	{ "template", CONFIG_TEXT, offsetof(struct tune_file, template) },
	{ "from", CONFIG_TEXT, offsetof(struct tune_file, from) },
	{ NULL },
};

static int take_file(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct tune_study *s = into;
	struct tune_file *f = &s->files[s->file_count];
	int rc;

	if (s->file_count >= TUNE_FILES_MAX)
		return config_error(r, node, "too many files (maximum %d)", TUNE_FILES_MAX);
	rc = config_take_map(r, node, file_keys, "a file", f);
	if (rc < 0)
		return rc;
	if (!f->path || !f->template == !f->from)
		return config_error(r, node,
				"a file needs a 'path', and its text as 'template' or the file that has it as 'from'");
	s->file_count++;
	return 0;
}

static int take_files(struct config_reader *r, yaml_node_t *list, void *into)
{
	return tune_take_list(r, list, "files", into, take_file);
}

static int take_warm(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct tune_study *s = into;

	if (!config_text(node))
		return config_error(r, node, "'warm_start' must be a list of journals");
	if (s->warm_count >= TUNE_WARM_MAX)
		return config_error(r, node, "too many journals in 'warm_start' (maximum %d)", TUNE_WARM_MAX);
	s->warm[s->warm_count] = arena_strdup(r->arena, config_text(node));
	return s->warm[s->warm_count++] ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

static int take_warms(struct config_reader *r, yaml_node_t *list, void *into)
{
	return tune_take_list(r, list, "warm_start", into, take_warm);
}

static const struct config_key budget_keys[] = {
	{ "trials", CONFIG_WHOLE, offsetof(struct tune_study, trials), .min = 1 },
	{ "time", CONFIG_DURATION, offsetof(struct tune_study, budget_ns) },
	{ NULL },
};

static int take_budget(struct config_reader *r, yaml_node_t *node, void *into)
{
	return config_take_map(r, node, budget_keys, "'budget'", into);
}

static int take_environment(struct config_reader *r, yaml_node_t *map, void *into)
{
	struct tune_study *s = into;

	return config_take_environment(r, map, &s->environment);
}

static int take_method(struct config_reader *r, yaml_node_t *node, void *into)
{
	const char *name = config_text(node), *names[16] = { NULL }, *nearest;
	struct tune_study *s = into;

	s->method = name ? tune_method_find(name) : NULL;
	if (s->method)
		return 0;
	for (size_t i = 0; i < 15 && tune_methods[i]; i++)
		names[i] = tune_methods[i]->name;
	nearest = name ? words_nearest(name, names) : NULL;
	config_error(r, node, "unknown method '%s'", name ? name : "?");
	err_hint(r->err, "%s%s%s supported: gp, tpe, selftf, sobol, random", nearest ? "did you mean '" : "",
			nearest ? nearest : "", nearest ? "'?" : "");
	return -EINVAL;
}

static int take_steps(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct tune_study *s = into;
	const char *text = config_text(node);

	if (!text)
		return config_error(r, node,
				"'steps' must be a regular expression with two groups: the step and its value");
	s->step_regex = arena_strdup(r->arena, text);
	return tune_check_regex(r, node, text, 2);
}

/* Constraints refer to parameters that may follow them in the file. */
static int take_constraints_later(struct config_reader *r, yaml_node_t *node, void *into)
{
	r->context = node;
	return 0;
}

/* It is also the name of the output directory. */
static int take_name(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct tune_study *s = into;
	const char *text = config_text(node);

	if (!text || !*text || *text == '.' || strchr(text, '/'))
		return config_error(r, node, "'name' must not contain '/' or start with '.'");
	s->name = arena_strdup(r->arena, text);
	return s->name ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

static const struct config_key study_keys[] = {
	{ "name", CONFIG_OTHER, .take = take_name },
	{ "command", CONFIG_LIST, offsetof(struct tune_study, command) },
	{ "prepare", CONFIG_LIST, offsetof(struct tune_study, prepare) },
	{ "directory", CONFIG_TEXT, offsetof(struct tune_study, directory) },
	{ "environment", CONFIG_OTHER, .take = take_environment },
	{ "files", CONFIG_OTHER, .take = take_files },
	{ "params", CONFIG_OTHER, .take = tune_take_params },
	{ "constraints", CONFIG_OTHER, .take = take_constraints_later },
	{ "objective", CONFIG_OTHER, .take = tune_take_objective },
	{ "objectives", CONFIG_OTHER, .take = tune_take_objectives },
	{ "limits", CONFIG_OTHER, .take = tune_take_limits },
	{ "budget", CONFIG_OTHER, .take = take_budget },
	{ "repeats", CONFIG_WHOLE, offsetof(struct tune_study, repeats), .min = 1 },
	{ "parallel", CONFIG_WHOLE, offsetof(struct tune_study, parallel), .min = 1 },
	{ "seed", CONFIG_WHOLE, offsetof(struct tune_study, seed), .min = 0 },
	{ "timeout", CONFIG_DURATION, offsetof(struct tune_study, timeout_ns) },
	{ "confirm", CONFIG_WHOLE, offsetof(struct tune_study, confirm), .min = 0 },
	{ "per_second", CONFIG_TRUTH, offsetof(struct tune_study, is_per_second) },
	{ "cap", CONFIG_TRUTH, offsetof(struct tune_study, is_capped) },
	{ "step", CONFIG_TEXT, offsetof(struct tune_study, step_name) },
	{ "window", CONFIG_WHOLE, offsetof(struct tune_study, window), .min = 1 },
	{ "settle", CONFIG_WHOLE, offsetof(struct tune_study, settle), .min = 0 },
	{ "early_stop", CONFIG_WORD, offsetof(struct tune_study, stop), .words = stop_words },
	{ "steps", CONFIG_OTHER, .take = take_steps },
	{ "warm_start", CONFIG_OTHER, .take = take_warms },
	{ "method", CONFIG_OTHER, .take = take_method },
	{ NULL },
};

_Static_assert(sizeof(enum tune_stop) == sizeof(int), "CONFIG_WORD writes an int");

/* "a/b/sqlite.yml" is "sqlite". */
static const char *name_of(const char *path, struct arena *arena)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');

	return arena_copy(arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

struct study_reader {
	struct config_reader reader; /* must be first: callbacks of the key tables get it */
	struct tune_study *study;
};

static bool is_of_program(const struct tune_study *s, const struct tune_metric *m)
{
	return m->source == TUNE_METRIC ||
			(!s->step_regex &&
					(m->source == TUNE_STEP || m->source == TUNE_TARGET || m->source == TUNE_RATE));
}

/* Does the study use libsonde's knobs, steps or metrics? */
static bool is_announced(const struct tune_study *s)
{
	bool is = s->stop != TUNE_STOP_NONE && !s->step_regex;

	for (size_t i = 0; i < s->space.count; i++)
		is |= s->space.params[i].knob != NULL;
	for (size_t k = 0; k < s->objective_count; k++)
		is |= is_of_program(s, &s->objectives[k].metric);
	for (size_t k = 0; k < s->limit_count; k++)
		is |= is_of_program(s, &s->limits[k].metric);
	return is;
}

static int check_most(struct config_reader *r, yaml_node_t *root, const struct tune_study *s)
{
	if (s->parallel > TUNE_PARALLEL_MAX)
		return config_error(r, root, "'parallel' must be at most %d", TUNE_PARALLEL_MAX);
	if (s->repeats > TUNE_REPEATS_MAX)
		return config_error(r, root, "'repeats' must be at most %d", TUNE_REPEATS_MAX);
	return 0;
}

static int take_document(struct config_reader *r, yaml_node_t *root)
{
	struct tune_study *study = ((struct study_reader *)r)->study;
	int rc = config_take_map(r, root, study_keys, NULL, study);

	if (rc < 0)
		return rc;
	if (!study->space.count)
		return config_error(r, root, "the study has no 'params'");
	if (r->context)
		rc = tune_take_constraints(r, r->context, &study->space);
	if (rc == 0 && !study->objective_count)
		return config_error(r, root, "the study has no 'objective'");
	study->is_announced = is_announced(study);
	return rc < 0 ? rc : check_most(r, root, study);
}

int tune_study_parse(struct tune_study *study, const char *path, const char *text, size_t size, struct arena *arena,
		struct sonde_err *err)
{
	struct sonde_err ignored;
	struct study_reader s = {
		.reader = { .path = path, .arena = arena, .err = err ? err : &ignored, .what = "a study" },
		.study = study,
	};

	memset(study, 0, sizeof(*study));
	study->path = path;
	study->trials = TRIALS_USUAL;
	study->confirm = CONFIRM_USUAL;
	study->repeats = study->parallel = 1;
	study->is_capped = true;
	study->settle = SETTLE_USUAL;
	study->name = name_of(path, arena);
	return config_parse(&s.reader, text, size, take_document);
}

int tune_study_load(struct tune_study *study, const char *path, struct arena *arena, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, path, CONFIG_BYTES_MAX, &text, err);

	return rc < 0 ? rc : tune_study_parse(study, path, text.data, text.len, arena, err);
}

void tune_study_options(const struct tune_study *study, struct tune_options *options)
{
	*options = (struct tune_options){ .method = study->method,
		.seed = (uint64_t)study->seed,
		.objective_count = study->objective_count,
		.limit_count = study->limit_count,
		.is_per_second = study->is_per_second };
	for (size_t k = 0; k < study->objective_count; k++)
		options->is_maximized[k] = study->objectives[k].is_maximized;
	for (size_t k = 0; k < study->limit_count; k++)
		options->limits[k] = study->limits[k].limit;
}

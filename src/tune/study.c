#include "tune/study.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/shell-words.h"
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <regex.h>
#include <string.h>

/*
 * Parses `objective`, `objectives` and `limits` of a study file: the sources of
 * metrics.
 */

static const char *const source_words[] = { "told", "wall", "cpu", "memory", "size", "output", "step", "target", "pace",
	"metric", NULL };
static const char *const goal_words[] = { "minimize", "maximize", NULL };
static const char *const reach_words[] = { "below", "above", NULL };

/* An objective or limit being parsed. */
struct metric_draft {
	struct tune_metric metric;
	int source, goal, reach;
	double min, max;
};

/* clang-format off */
#define METRIC_KEYS \
	{ "name", CONFIG_TEXT, offsetof(struct metric_draft, metric.name) }, \
	{ "from", CONFIG_WORD, offsetof(struct metric_draft, source), .words = source_words }, \
	{ "regex", CONFIG_TEXT, offsetof(struct metric_draft, metric.regex) }, \
	{ "file", CONFIG_TEXT, offsetof(struct metric_draft, metric.file) }, \
	{ "metric", CONFIG_TEXT, offsetof(struct metric_draft, metric.kept) }, \
	{ "target", CONFIG_REAL, offsetof(struct metric_draft, metric.target) }, \
	{ "reach", CONFIG_WORD, offsetof(struct metric_draft, reach), .words = reach_words }, \
	{ "mean_of", CONFIG_WHOLE, offsetof(struct metric_draft, metric.mean_of), .min = 1 }
/* clang-format on */

static const struct config_key objective_keys[] = {
	METRIC_KEYS,
	{ "goal", CONFIG_WORD, offsetof(struct metric_draft, goal), .words = goal_words },
	{ NULL },
};

static const struct config_key limit_keys[] = {
	METRIC_KEYS,
	{ "min", CONFIG_REAL, offsetof(struct metric_draft, min) },
	{ "max", CONFIG_REAL, offsetof(struct metric_draft, max) },
	{ NULL },
};

/* A kind of list entry of a study. */
struct metric_kind {
	const struct config_key *keys;
	const char *one, *many;
	size_t max;
};

static const struct metric_kind an_objective = { objective_keys, "an objective", "objectives", TUNE_OBJECTIVES_MAX };
static const struct metric_kind a_limit = { limit_keys, "a limit", "limits", TUNE_LIMITS_MAX };

/* Checks that the regular expression is valid and has that many capture groups. */
static int check_regex(struct config_reader *r, yaml_node_t *at, const char *text, size_t groups)
{
	char why[200];
	regex_t regex;
	int rc = regcomp(&regex, text, REG_EXTENDED | REG_NEWLINE);

	if (rc != 0) {
		regerror(rc, &regex, why, sizeof(why));
		return config_error(r, at, "invalid regular expression '%s': %s", text, why);
	}
	rc = regex.re_nsub < groups
			? config_error(r, at, "the regular expression '%s' needs %zu group%s in parentheses", text,
					  groups, groups > 1 ? "s" : "")
			: 0;
	regfree(&regex);
	return rc;
}

/* Appends one to the `count` parsed before. */
static int parse_metric(struct config_reader *r, yaml_node_t *node, const struct metric_kind *kind, size_t count,
		struct metric_draft *d)
{
	int rc;

	if (count >= kind->max)
		return config_error(r, node, "too many %s (maximum %zu)", kind->many, kind->max);
	*d = (struct metric_draft){ .source = -1, .min = -INFINITY, .max = INFINITY, .metric.target = NAN };
	rc = config_take_map(r, node, kind->keys, kind->one, d);
	if (rc < 0)
		return rc;
	if (!d->metric.name || !*d->metric.name)
		return config_error(r, node, "%s needs a 'name'", kind->one);
	/* The name implies the source, unless `from`, a regex, a file, a metric or a target sets it. */
	if (d->source >= 0)
		d->metric.source = (enum tune_source)d->source;
	else if (d->metric.regex)
		d->metric.source = TUNE_OUTPUT;
	else if (d->metric.file)
		d->metric.source = TUNE_SIZE;
	else if (d->metric.kept)
		d->metric.source = TUNE_METRIC;
	else if (!isnan(d->metric.target))
		d->metric.source = TUNE_TARGET;
	else
		for (int i = 0; source_words[i]; i++)
			if (strcmp(d->metric.name, source_words[i]) == 0)
				d->metric.source = (enum tune_source)i;
	d->metric.is_rising = d->reach == 1;
	d->metric.line = config_line(node);
	if (d->metric.source == TUNE_TARGET && isnan(d->metric.target))
		return config_error(r, node, "'%s' is the time to a step value and needs a 'target'", d->metric.name);
	if (d->metric.source == TUNE_METRIC && !d->metric.kept)
		d->metric.kept = d->metric.name;
	if (d->metric.source == TUNE_OUTPUT && !d->metric.regex)
		return config_error(r, node, "'%s' comes from the output and needs a 'regex'", d->metric.name);
	if (d->metric.source == TUNE_SIZE && !d->metric.file)
		return config_error(r, node, "'%s' is the size of a file and needs 'file'", d->metric.name);
	return d->metric.regex ? check_regex(r, node, d->metric.regex, 1) : 0;
}

static int parse_objective(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct tune_study *s = into;
	struct metric_draft d;
	int rc = parse_metric(r, node, &an_objective, s->objective_count, &d);

	for (size_t k = 0; rc == 0 && k < s->objective_count; k++)
		if (strcmp(s->objectives[k].metric.name, d.metric.name) == 0)
			return config_error(r, node, "duplicate objective '%s'", d.metric.name);
	if (rc == 0)
		s->objectives[s->objective_count++] = (struct tune_objective){ d.metric, .is_maximized = d.goal == 1 };
	return rc;
}

static int parse_limit(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct tune_study *s = into;
	struct metric_draft d;
	int rc = parse_metric(r, node, &a_limit, s->limit_count, &d);

	if (rc == 0 && isinf(d.min) && isinf(d.max))
		return config_error(r, node, "the limit of '%s' needs a 'min' or a 'max'", d.metric.name);
	if (rc == 0 && d.min > d.max)
		return config_error(r, node, "'min' of the limit of '%s' is above 'max'", d.metric.name);
	if (rc == 0)
		s->limits[s->limit_count++] = (struct tune_bound){ d.metric, .limit = { d.min, d.max } };
	return rc;
}

/* Calls `take` for each item of a list; `what` names the list in errors. */
static int parse_list(struct config_reader *r, yaml_node_t *list, const char *what, void *into,
		int (*take)(struct config_reader *, yaml_node_t *, void *))
{
	yaml_node_t *node;
	int rc = 0;

	if (list->type != YAML_SEQUENCE_NODE)
		return config_error(r, list, "'%s' must be a list", what);
	for (size_t i = 0; rc == 0 && (node = config_item(r, list, i)); i++)
		rc = take(r, node, into);
	return rc;
}

static int parse_objectives(struct config_reader *r, yaml_node_t *list, void *into)
{
	return parse_list(r, list, "objectives", into, parse_objective);
}

static int parse_limits(struct config_reader *r, yaml_node_t *list, void *into)
{
	return parse_list(r, list, "limits", into, parse_limit);
}

enum { TRIALS_USUAL = 50, CONFIRM_USUAL = 10, SETTLE_USUAL = 2 };

static const char *const stop_words[] = { "none", "median", "asha", NULL };

static const struct config_key file_keys[] = {
	{ "path", CONFIG_TEXT, offsetof(struct tune_file, path) },
	{ "template", CONFIG_TEXT, offsetof(struct tune_file, template) },
	{ "from", CONFIG_TEXT, offsetof(struct tune_file, from) },
	{ NULL },
};

static int parse_file(struct config_reader *r, yaml_node_t *node, void *into)
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

static int parse_files(struct config_reader *r, yaml_node_t *list, void *into)
{
	return parse_list(r, list, "files", into, parse_file);
}

static int parse_warm(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct tune_study *s = into;

	if (!config_text(node))
		return config_error(r, node, "'warm_start' must be a list of journals");
	if (s->warm_count >= TUNE_WARM_MAX)
		return config_error(r, node, "too many journals in 'warm_start' (maximum %d)", TUNE_WARM_MAX);
	s->warm[s->warm_count] = arena_strdup(r->arena, config_text(node));
	return s->warm[s->warm_count++] ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

static int parse_warms(struct config_reader *r, yaml_node_t *list, void *into)
{
	return parse_list(r, list, "warm_start", into, parse_warm);
}

static const struct config_key budget_keys[] = {
	{ "trials", CONFIG_WHOLE, offsetof(struct tune_study, trials), .min = 1 },
	{ "time", CONFIG_DURATION, offsetof(struct tune_study, budget_ns) },
	{ NULL },
};

static int parse_budget(struct config_reader *r, yaml_node_t *node, void *into)
{
	return config_take_map(r, node, budget_keys, "'budget'", into);
}

static int parse_environment(struct config_reader *r, yaml_node_t *map, void *into)
{
	struct tune_study *s = into;

	return config_take_environment(r, map, &s->environment);
}

static int parse_method(struct config_reader *r, yaml_node_t *node, void *into)
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

static int parse_steps(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct tune_study *s = into;
	const char *text = config_text(node);

	if (!text)
		return config_error(r, node,
				"'steps' must be a regular expression with two groups: the step and its value");
	s->step_regex = arena_strdup(r->arena, text);
	return check_regex(r, node, text, 2);
}

/* Constraints refer to parameters that may follow them in the file. */
static int parse_constraints_later(struct config_reader *r, yaml_node_t *node, void *into)
{
	r->context = node;
	return 0;
}

/* It is also the name of the output directory. */
static int parse_name(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct tune_study *s = into;
	const char *text = config_text(node);

	if (!text || !*text || *text == '.' || strchr(text, '/'))
		return config_error(r, node, "'name' must not contain '/' or start with '.'");
	s->name = arena_strdup(r->arena, text);
	return s->name ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

static const struct config_key study_keys[] = {
	{ "name", CONFIG_OTHER, .take = parse_name },
	{ "command", CONFIG_LIST, offsetof(struct tune_study, command) },
	{ "prepare", CONFIG_LIST, offsetof(struct tune_study, prepare) },
	{ "directory", CONFIG_TEXT, offsetof(struct tune_study, directory) },
	{ "environment", CONFIG_OTHER, .take = parse_environment },
	{ "files", CONFIG_OTHER, .take = parse_files },
	{ "params", CONFIG_OTHER, .take = tune_parse_params },
	{ "constraints", CONFIG_OTHER, .take = parse_constraints_later },
	{ "objective", CONFIG_OTHER, .take = parse_objective },
	{ "objectives", CONFIG_OTHER, .take = parse_objectives },
	{ "limits", CONFIG_OTHER, .take = parse_limits },
	{ "budget", CONFIG_OTHER, .take = parse_budget },
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
	{ "steps", CONFIG_OTHER, .take = parse_steps },
	{ "warm_start", CONFIG_OTHER, .take = parse_warms },
	{ "method", CONFIG_OTHER, .take = parse_method },
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

static int parse_document(struct config_reader *r, yaml_node_t *root)
{
	struct tune_study *study = ((struct study_reader *)r)->study;
	int rc = config_take_map(r, root, study_keys, NULL, study);

	if (rc < 0)
		return rc;
	if (!study->space.count)
		return config_error(r, root, "the study has no 'params'");
	if (r->context)
		rc = tune_parse_constraints(r, r->context, &study->space);
	if (rc == 0 && !study->objective_count)
		return config_error(r, root, "the study has no 'objective'");
	study->is_announced = is_announced(study);
	if (rc < 0)
		return rc;
	if (study->parallel > TUNE_PARALLEL_MAX)
		return config_error(r, root, "'parallel' must be at most %d", TUNE_PARALLEL_MAX);
	if (study->repeats > TUNE_REPEATS_MAX)
		return config_error(r, root, "'repeats' must be at most %d", TUNE_REPEATS_MAX);
	return 0;
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
	return config_parse(&s.reader, text, size, parse_document);
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

#include "tune/study-metrics.h"

#include <math.h>
#include <regex.h>
#include <string.h>

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

int tune_check_regex(struct config_reader *r, yaml_node_t *at, const char *text, size_t groups)
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

/* The name implies the source, unless `from`, a regex, a file, a metric or a target sets it. */
static void settle_source(struct metric_draft *d)
{
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
}

/* Appends one to the `count` parsed before. */
static int take_metric(struct config_reader *r, yaml_node_t *node, const struct metric_kind *kind, size_t count,
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
	settle_source(d);
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
	return d->metric.regex ? tune_check_regex(r, node, d->metric.regex, 1) : 0;
}

int tune_take_objective(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct tune_study *s = into;
	struct metric_draft d;
	int rc = take_metric(r, node, &an_objective, s->objective_count, &d);

	for (size_t k = 0; rc == 0 && k < s->objective_count; k++)
		if (strcmp(s->objectives[k].metric.name, d.metric.name) == 0)
			return config_error(r, node, "duplicate objective '%s'", d.metric.name);
	if (rc == 0)
		s->objectives[s->objective_count++] = (struct tune_objective){ d.metric, .is_maximized = d.goal == 1 };
	return rc;
}

static int take_limit(struct config_reader *r, yaml_node_t *node, void *into)
{
	struct tune_study *s = into;
	struct metric_draft d;
	int rc = take_metric(r, node, &a_limit, s->limit_count, &d);

	if (rc == 0 && isinf(d.min) && isinf(d.max))
		return config_error(r, node, "the limit of '%s' needs a 'min' or a 'max'", d.metric.name);
	if (rc == 0 && d.min > d.max)
		return config_error(r, node, "'min' of the limit of '%s' is above 'max'", d.metric.name);
	if (rc == 0)
		s->limits[s->limit_count++] = (struct tune_bound){ d.metric, .limit = { d.min, d.max } };
	return rc;
}

int tune_take_list(struct config_reader *r, yaml_node_t *list, const char *what, void *into,
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

int tune_take_objectives(struct config_reader *r, yaml_node_t *list, void *into)
{
	return tune_take_list(r, list, "objectives", into, tune_take_objective);
}

int tune_take_limits(struct config_reader *r, yaml_node_t *list, void *into)
{
	return tune_take_list(r, list, "limits", into, take_limit);
}

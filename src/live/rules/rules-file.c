#include "live/rules/rules-file.h"

#include "config/config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int nomem(struct config_reader *r)
{
	return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

static int at_node(struct config_reader *r, const yaml_node_t *at, int rc)
{
	if (rc < 0)
		err_prefix(r->err, "%s:%zu", r->path, config_line(at));
	return rc;
}

static int parse_expr(struct config_reader *r, yaml_node_t *value, enum expr_type type, const char **text,
		struct expr **out)
{
	if (!config_text(value))
		return config_error(r, value, "an expression must be a string");
	*text = arena_strdup(r->arena, config_text(value));
	if (!*text)
		return nomem(r);
	return at_node(r, value, rule_expr_compile(out, *text, type, r->arena, r->err));
}

static int parse_when(struct config_reader *r, yaml_node_t *value, void *into)
{
	struct rule *rule = into;

	return parse_expr(r, value, EXPR_TRUTH, &rule->when_text, &rule->when);
}

static int parse_until(struct config_reader *r, yaml_node_t *value, void *into)
{
	struct rule *rule = into;

	return parse_expr(r, value, EXPR_TRUTH, &rule->until_text, &rule->until);
}

static int parse_measure(struct config_reader *r, yaml_node_t *value, void *into)
{
	struct rules_regulator *g = into;

	return parse_expr(r, value, EXPR_NUMBER, &g->measure_text, &g->measure);
}

/* Parses a list of actions, or a single one. */
static int parse_actions(struct config_reader *r, yaml_node_t *value, bool is_range, size_t max, struct action *all,
		size_t *count)
{
	bool is_one = config_text(value) != NULL;

	if (!is_one && value->type != YAML_SEQUENCE_NODE)
		return config_error(r, value, "actions must be a list of strings");
	for (size_t i = 0; is_one ? i == 0 : config_item(r, value, i) != NULL; i++) {
		yaml_node_t *item = is_one ? value : config_item(r, value, i);
		int rc;

		if (!config_text(item))
			return config_error(r, item, "an action must be a string");
		if (*count == max)
			return config_error(r, item, "too many actions (maximum %zu)", max);
		rc = at_node(r, item, action_parse(&all[(*count)++], config_text(item), is_range, r->arena, r->err));
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int parse_do(struct config_reader *r, yaml_node_t *value, void *into)
{
	struct rule *rule = into;

	return parse_actions(r, value, false, RULES_ACTIONS_MAX, rule->actions, &rule->action_count);
}

static int parse_else(struct config_reader *r, yaml_node_t *value, void *into)
{
	struct rule *rule = into;

	return parse_actions(r, value, false, RULES_ACTIONS_MAX, rule->otherwise, &rule->otherwise_count);
}

static int parse_rungs(struct config_reader *r, yaml_node_t *value, void *into)
{
	struct rules_regulator *g = into;
	int rc = parse_actions(r, value, true, REGULATOR_RUNGS_MAX, g->rungs, &g->settings.rung_count);

	/* Actions that give resources to one application come before those that take from others. */
	for (size_t i = 1; rc == 0 && i < g->settings.rung_count; i++)
		for (size_t k = i; k > 0 && g->rungs[k - 1].kind > g->rungs[k].kind; k--) {
			struct action swap = g->rungs[k];

			g->rungs[k] = g->rungs[k - 1];
			g->rungs[k - 1] = swap;
		}
	return rc;
}

#define RULE(field) offsetof(struct rule, field)

static int parse_rule(struct config_reader *r, yaml_node_t *map, struct rules_file *f)
{
	static const struct config_key keys[] = {
		{ "name", CONFIG_TEXT, RULE(name) },
		{ "when", CONFIG_OTHER, 0, .take = parse_when },
		{ "until", CONFIG_OTHER, 0, .take = parse_until },
		{ "for", CONFIG_DURATION, RULE(for_ns) },
		{ "cooldown", CONFIG_DURATION, RULE(cooldown_ns) },
		{ "hold", CONFIG_DURATION, RULE(hold_ns) },
		{ "priority", CONFIG_WHOLE, RULE(priority), .min = -1000 },
		{ "do", CONFIG_OTHER, 0, .take = parse_do },
		{ "else", CONFIG_OTHER, 0, .take = parse_else },
		{ NULL },
	};
	struct rule *rule = &f->rules[f->rule_count];
	int rc;

	if (f->rule_count == RULES_MAX)
		return config_error(r, map, "too many rules (maximum %d)", RULES_MAX);
	*rule = (struct rule){ .hold_ns = 30000000000 };
	rc = config_take_map(r, map, keys, "a rule", rule);
	if (rc < 0)
		return rc;
	if (!rule->name || !rule->when || !rule->action_count)
		return config_error(r, map, "a rule needs 'name', 'when' and 'do'");
	for (size_t i = 0; i < f->rule_count; i++)
		if (strcmp(f->rules[i].name, rule->name) == 0)
			return config_error(r, map, "duplicate rule '%s'", rule->name);
	f->rule_count++;
	return 0;
}

#define REGULATOR(field) offsetof(struct rules_regulator, field)

static int finish_regulator(struct config_reader *r, const yaml_node_t *map, struct rules_regulator *g)
{
	struct regulator_settings *s = &g->settings;

	if (!g->name || !g->measure || !s->rung_count)
		return config_error(r, map, "a regulator needs 'name', 'measure' and 'act'");
	if (isnan(g->at_least) == isnan(g->at_most))
		return config_error(r, map, "a regulator needs either 'at_least' or 'at_most'");
	s->is_upper = isnan(g->at_least);
	s->target = s->is_upper ? g->at_most : g->at_least;
	if (s->target == 0)
		return config_error(r, map, "the target must not be 0");
	if (!(s->band >= 0 && s->band < 10 && s->raise > 0 && s->raise <= 1 && s->lower > 0 && s->lower <= 1))
		return config_error(r, map, "'band' must be at least 0, 'raise' and 'lower' above 0 and at most 1");
	return 0;
}

static int parse_regulator(struct config_reader *r, yaml_node_t *map, struct rules_file *f)
{
	static const char *const methods[] = { "aimd", "pi", "threshold", NULL };
	static const struct config_key keys[] = {
		{ "name", CONFIG_TEXT, REGULATOR(name) },
		{ "measure", CONFIG_OTHER, 0, .take = parse_measure },
		{ "at_least", CONFIG_REAL, REGULATOR(at_least) },
		{ "at_most", CONFIG_REAL, REGULATOR(at_most) },
		{ "method", CONFIG_WORD, REGULATOR(settings.method), .words = methods },
		{ "band", CONFIG_REAL, REGULATOR(settings.band) },
		{ "raise", CONFIG_REAL, REGULATOR(settings.raise) },
		{ "lower", CONFIG_REAL, REGULATOR(settings.lower) },
		{ "proportional", CONFIG_REAL, REGULATOR(settings.proportional) },
		{ "integral", CONFIG_REAL, REGULATOR(settings.integral) },
		{ "saturation", CONFIG_DURATION, REGULATOR(settings.saturation_ns) },
		{ "retry", CONFIG_DURATION, REGULATOR(settings.retry_ns) },
		{ "act", CONFIG_OTHER, 0, .take = parse_rungs },
		{ NULL },
	};
	struct rules_regulator *g = &f->regulators[f->regulator_count];
	int rc;

	if (f->regulator_count == RULES_MAX)
		return config_error(r, map, "too many regulators (maximum %d)", RULES_MAX);
	*g = (struct rules_regulator){ .settings = REGULATOR_USUAL, .at_least = NAN, .at_most = NAN };
	rc = config_take_map(r, map, keys, "a regulator", g);
	if (rc == 0)
		rc = finish_regulator(r, map, g);
	f->regulator_count += rc == 0;
	return rc;
}

static int each_item(struct config_reader *r, yaml_node_t *list, const char *what, struct rules_file *f,
		int (*take)(struct config_reader *, yaml_node_t *, struct rules_file *))
{
	yaml_node_t *item;
	int rc = 0;

	if (list->type != YAML_SEQUENCE_NODE)
		return config_error(r, list, "'%s' must be a list", what);
	for (size_t i = 0; rc == 0 && (item = config_item(r, list, i)); i++)
		rc = take(r, item, f);
	return rc;
}

static int parse_rules(struct config_reader *r, yaml_node_t *list, void *into)
{
	return each_item(r, list, "rules", into, parse_rule);
}

static int parse_regulators(struct config_reader *r, yaml_node_t *list, void *into)
{
	return each_item(r, list, "regulators", into, parse_regulator);
}

static int parse_memory_floor(struct config_reader *r, yaml_node_t *value, void *into)
{
	struct action a;
	char text[64];
	int n = config_text(value) ? snprintf(text, sizeof(text), "memory x %s", config_text(value)) : -1;

	if (n < 0 || (size_t)n >= sizeof(text) || action_parse(&a, text, false, r->arena, NULL) < 0)
		return config_error(r, value, "'memory' must be a size such as 512M");
	((struct rules_app *)into)->floor_memory = a.value;
	return 0;
}

static int parse_floor(struct config_reader *r, yaml_node_t *map, void *into)
{
	static const struct config_key keys[] = {
		{ "cpus", CONFIG_REAL, offsetof(struct rules_app, floor_cpus) },
		{ "weight", CONFIG_REAL, offsetof(struct rules_app, floor_weight) },
		{ "memory", CONFIG_OTHER, 0, .take = parse_memory_floor },
		{ NULL },
	};

	return config_take_map(r, map, keys, "a floor", into);
}

static int parse_app(struct config_reader *r, yaml_node_t *key, yaml_node_t *map, struct rules_file *f)
{
	static const struct config_key keys[] = {
		{ "cgroup", CONFIG_TEXT, offsetof(struct rules_app, cgroup) },
		{ "protected", CONFIG_TRUTH, offsetof(struct rules_app, is_protected) },
		{ "floor", CONFIG_OTHER, 0, .take = parse_floor },
		{ NULL },
	};
	struct rules_app *app = &f->apps[f->app_count];

	if (!config_text(key))
		return config_error(r, key, "an application name must be a string");
	if (f->app_count == RULES_APPS_MAX)
		return config_error(r, key, "too many applications (maximum %d)", RULES_APPS_MAX);
	*app = (struct rules_app){ .name = arena_strdup(r->arena, config_text(key)) };
	if (!app->name)
		return nomem(r);
	f->app_count++;
	return config_take_map(r, map, keys, "an application", app);
}

static int parse_apps(struct config_reader *r, yaml_node_t *map, void *into)
{
	int rc = 0;

	if (map->type != YAML_MAPPING_NODE)
		return config_error(r, map, "'apps' must be a mapping of names to settings");
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top && rc == 0; p++)
		rc = parse_app(r, yaml_document_get_node(r->document, p->key),
				yaml_document_get_node(r->document, p->value), into);
	return rc;
}

#define FILE_(field) offsetof(struct rules_file, field)

static int by_priority(const void *a, const void *b)
{
	const struct rule *one = a, *other = b;

	return one->priority != other->priority ? (one->priority > other->priority ? -1 : 1)
						: (one > other) - (one < other);
}

static int parse_file(struct config_reader *r, yaml_node_t *root)
{
	static const struct config_key keys[] = {
		{ "interval", CONFIG_DURATION, FILE_(interval_ns) },
		{ "stale", CONFIG_DURATION, FILE_(stale_ns) },
		{ "lease", CONFIG_DURATION, FILE_(lease_ns) },
		{ "dry_run", CONFIG_TRUTH, FILE_(is_dry_run) },
		{ "utc", CONFIG_TRUTH, FILE_(is_utc) },
		{ "journal", CONFIG_TEXT, FILE_(journal) },
		{ "off_file", CONFIG_TEXT, FILE_(off_file) },
		{ "spool", CONFIG_TEXT, FILE_(spool) },
		{ "max_rate", CONFIG_WHOLE, FILE_(rate_max), .min = 1 },
		{ "apps", CONFIG_OTHER, 0, .take = parse_apps },
		{ "rules", CONFIG_OTHER, 0, .take = parse_rules },
		{ "regulators", CONFIG_OTHER, 0, .take = parse_regulators },
		{ NULL },
	};
	struct rules_file *f = r->context;
	int rc = config_take_map(r, root, keys, NULL, f);

	if (rc < 0)
		return rc;
	if (f->interval_ns < 10000000 || f->interval_ns > 3600000000000)
		return config_error(r, root, "'interval' must be from 10ms to 1h");
	if (f->lease_ns < 4 * f->interval_ns)
		return config_error(r, root, "'lease' must be at least four intervals");
	if (!f->rule_count && !f->regulator_count)
		return config_error(r, root, "no rules and no regulators");
	qsort(f->rules, f->rule_count, sizeof(f->rules[0]), by_priority);
	return 0;
}

int rules_load(struct rules_file *f, const char *path, struct arena *arena, struct sonde_err *err)
{
	struct config_reader r = { .path = path, .arena = arena, .err = err, .what = "a rules file", .context = f };

	*f = (struct rules_file){ .interval_ns = 250000000,
		.stale_ns = 5000000000,
		.lease_ns = 10000000000,
		.rate_max = 600 };
	return config_load(&r, parse_file);
}

const struct rules_app *rules_app(const struct rules_file *f, const char *name)
{
	for (size_t i = 0; name && i < f->app_count; i++)
		if (strcmp(f->apps[i].name, name) == 0)
			return &f->apps[i];
	return NULL;
}

/*
 * Parameters are parsed in two passes: their definitions, then references to others.
 */
#include "tune/study.h"

#include "base/shell-words.h"
#include "sonde/shm.h"
#include "tune/space.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const type_words[] = { "float", "int", "ordinal", "categorical", "bool", NULL };
static const char *const class_words[] = { "restart", "live", "rebuild", NULL };

/* A parameter being parsed. */
struct draft {
	struct tune_param param;
	int type, class;
	double step;
	yaml_node_t *low, *high, *choices, *start, *active_if, *gives_up;
};

#define KEEP(field) \
	static int keep_##field(struct config_reader *r, yaml_node_t *value, void *into) \
	{ \
		((struct draft *)into)->field = value; \
		return 0; \
	}
KEEP(low)
KEEP(high)
KEEP(choices)
KEEP(start)
KEEP(active_if)
KEEP(gives_up)

static const struct config_key param_keys[] = {
	{ "name", CONFIG_TEXT, offsetof(struct draft, param.name) },
	{ "type", CONFIG_WORD, offsetof(struct draft, type), .words = type_words },
	{ "low", CONFIG_OTHER, .take = keep_low },
	{ "high", CONFIG_OTHER, .take = keep_high },
	{ "log", CONFIG_TRUTH, offsetof(struct draft, param.is_log) },
	{ "choices", CONFIG_OTHER, .take = keep_choices },
	{ "default", CONFIG_OTHER, .take = keep_start },
	{ "active_if", CONFIG_OTHER, .take = keep_active_if },
	{ "gives_up", CONFIG_OTHER, .take = keep_gives_up },
	{ "class", CONFIG_WORD, offsetof(struct draft, class), .words = class_words },
	{ "arg", CONFIG_TEXT, offsetof(struct draft, param.argument) },
	{ "env", CONFIG_TEXT, offsetof(struct draft, param.variable) },
	{ "knob", CONFIG_TEXT, offsetof(struct draft, param.knob) },
	{ NULL },
};

static bool is_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' && *name != '-' && *name != '.')
			return false;
	return true;
}

static int parse_range(struct config_reader *r, yaml_node_t *at, struct draft *d)
{
	struct tune_param *p = &d->param;

	if (!d->low || !d->high)
		return config_error(r, at, "parameter '%s' needs 'low' and 'high'", p->name);
	if (!config_number(d->low, &p->low))
		return config_error(r, d->low, "'low' of parameter '%s' must be a number", p->name);
	if (!config_number(d->high, &p->high))
		return config_error(r, d->high, "'high' of parameter '%s' must be a number", p->name);
	if (p->low > p->high)
		return config_error(r, d->high, "'low' of parameter '%s' is above 'high'", p->name);
	if (!isfinite(p->high - p->low))
		return config_error(r, d->high, "'low' and 'high' of parameter '%s' are too far apart", p->name);
	if (p->type == TUNE_INT &&
			(p->low != round(p->low) || p->high != round(p->high) || fabs(p->low) > 9e15 ||
					fabs(p->high) > 9e15))
		return config_error(r, d->low, "'low' and 'high' of parameter '%s', an int, must be whole numbers",
				p->name);
	if (p->is_log && !(p->low > 0))
		return config_error(r, d->low, "'low' of parameter '%s' must be above 0, since it is logarithmic",
				p->name);
	return 0;
}

static int parse_choice(struct config_reader *r, yaml_node_t *node, struct draft *d, struct tune_choice *c, size_t i)
{
	const char *text = config_text(node);

	if (!text)
		return config_error(r, node, "a choice of parameter '%s' must be a string or a number", d->param.name);
	c->text = arena_strdup(r->arena, text);
	c->is_number = config_number(node, &c->number);
	if (!c->is_number)
		c->number = NAN;
	for (size_t k = 0; k < i; k++)
		if (strcmp(d->param.choices[k].text, text) == 0)
			return config_error(r, node, "duplicate choice '%s' of parameter '%s'", text, d->param.name);
		else if (c->is_number && d->param.choices[k].number == c->number)
			return config_error(r, node, "the choices '%s' and '%s' of parameter '%s' are the same number",
					d->param.choices[k].text, text, d->param.name);
	return c->text ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

static int parse_choices(struct config_reader *r, yaml_node_t *at, struct draft *d)
{
	struct tune_choice *choices;
	size_t n = 0;
	int rc = 0;

	if (!d->choices)
		return config_error(r, at, "parameter '%s' needs 'choices'", d->param.name);
	while (config_item(r, d->choices, n))
		n++;
	if (n == 0 || n > TUNE_CHOICES_MAX)
		return config_error(r, d->choices, "'choices' of parameter '%s' must be a list of 1 to %d",
				d->param.name, TUNE_CHOICES_MAX);
	choices = arena_alloc(r->arena, n * sizeof(*choices));
	if (!choices)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	d->param.choices = choices;
	d->param.choice_count = n;
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = parse_choice(r, config_item(r, d->choices, i), d, &choices[i], i);
	return rc;
}

/* {choice: text}: the choices of a bool are false and true. */
static int parse_gives_up(struct config_reader *r, struct draft *d)
{
	static const struct tune_choice truths[] = { { "false", true, NAN, NULL }, { "true", true, NAN, NULL } };
	struct tune_choice *choices;
	size_t n = d->param.type == TUNE_BOOL ? 2 : d->param.choice_count;

	if (!d->gives_up)
		return 0;
	if (!n || d->gives_up->type != YAML_MAPPING_NODE)
		return config_error(r, d->gives_up, "'gives_up' must map choices to texts (choice: text)");
	choices = (struct tune_choice *)arena_copy(r->arena, d->param.type == TUNE_BOOL ? truths : d->param.choices,
			n * sizeof(*choices));
	for (yaml_node_pair_t *p = d->gives_up->data.mapping.pairs.start;
			choices && p < d->gives_up->data.mapping.pairs.top; p++) {
		yaml_node_t *key = yaml_document_get_node(r->document, p->key);
		const char *choice = config_text(key),
			   *text = config_text(yaml_document_get_node(r->document, p->value));
		double index;

		if (!choice || !text)
			return config_error(r, key, "'gives_up' must map choices to texts");
		if (tune_param_parse(&d->param, choice, &index, r->err) < 0) {
			err_prefix(r->err, "%s:%zu", r->path, config_line(key));
			return -EINVAL;
		}
		choices[(size_t)index].gives_up = arena_strdup(r->arena, text);
	}
	d->param.choices = choices;
	return choices ? 0 : err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

/* Rejects keys that would have no effect. */
static int check_kind(struct config_reader *r, const struct draft *d)
{
	bool has_range = d->param.type == TUNE_FLOAT || d->param.type == TUNE_INT;

	if (d->choices && (has_range || d->param.type == TUNE_BOOL))
		return config_error(r, d->choices,
				"parameter '%s' must not have 'choices': they are for ordinal and categorical",
				d->param.name);
	if ((d->low || d->high) && !has_range)
		return config_error(r, d->low ? d->low : d->high,
				"parameter '%s' must not have 'low' and 'high': they are for float and int",
				d->param.name);
	return 0;
}

/* Checks how the program gets the value: by an argument, a variable or a knob. */
static int check_passing(struct config_reader *r, yaml_node_t *at, const struct tune_param *p)
{
	if (p->argument && !strstr(p->argument, "{}"))
		return config_error(r, at, "'arg' of parameter '%s' needs a {} where the value goes", p->name);
	if (p->variable && (!*p->variable || strchr(p->variable, '=')))
		return config_error(r, at, "'env' of parameter '%s' is not a valid variable name", p->name);
	if (!p->knob)
		return 0;
	if (!*p->knob || strlen(p->knob) >= SONDE_NAME_BYTES)
		return config_error(r, at, "'knob' of parameter '%s' must be a name of at most %u bytes", p->name,
				SONDE_NAME_BYTES - 1);
	for (size_t i = 0; i < p->choice_count; i++)
		if (strlen(p->choices[i].text) >= SONDE_NAME_BYTES || strchr(p->choices[i].text, '|'))
			return config_error(r, at, "choice '%s' of parameter '%s' cannot be the value of a knob",
					p->choices[i].text, p->name);
	return 0;
}

static int parse_param(struct config_reader *r, yaml_node_t *node, struct tune_space *space, struct draft *d)
{
	char what[200] = "a parameter";
	yaml_node_t *name = config_find(r, node, "name");
	int rc;

	if (name && config_text(name))
		snprintf(what, sizeof(what), "parameter '%s'", config_text(name));
	d->type = -1;
	rc = config_take_map(r, node, param_keys, what, d);
	if (rc < 0)
		return rc;
	if (!d->param.name || !is_name(d->param.name))
		return config_error(r, node, "a parameter needs a 'name' of letters, digits, _, - and .");
	if (tune_space_find(space, d->param.name))
		return config_error(r, node, "duplicate parameter '%s'", d->param.name);
	if (d->type < 0)
		return config_error(r, node, "parameter '%s' needs a 'type': float, int, ordinal, categorical or bool",
				d->param.name);
	d->param.type = (enum tune_type)d->type;
	rc = check_kind(r, d);
	if (rc < 0)
		return rc;
	d->param.class = (enum tune_class)d->class;
	d->param.line = config_line(node);
	if (d->param.type == TUNE_FLOAT || d->param.type == TUNE_INT)
		rc = parse_range(r, node, d);
	else if (d->param.type != TUNE_BOOL)
		rc = parse_choices(r, node, d);
	if (rc == 0)
		rc = parse_gives_up(r, d);
	return rc < 0 ? rc : check_passing(r, node, &d->param);
}

static int parse_default(struct config_reader *r, const struct draft *d, struct tune_param *p)
{
	const char *text;

	if (!d->start)
		return 0;
	text = config_text(d->start);
	if (!text)
		return config_error(r, d->start, "'default' of parameter '%s' must be one value", p->name);
	if (tune_param_parse(p, text, &p->start, r->err) < 0) {
		err_prefix(r->err, "%s:%zu: the default", r->path, config_line(d->start));
		return -EINVAL;
	}
	p->has_default = true;
	return 0;
}

static int find_parent(struct config_reader *r, yaml_node_t *key, const struct tune_space *space, size_t *index)
{
	const char *names[TUNE_PARAMS_MAX + 1], *name = config_text(key), *nearest;
	const struct tune_param *parent = name ? tune_space_find(space, name) : NULL;

	if (parent) {
		*index = (size_t)(parent - space->params);
		return 0;
	}
	for (size_t i = 0; i < space->count; i++)
		names[i] = space->params[i].name;
	names[space->count] = NULL;
	nearest = name ? words_nearest(name, names) : NULL;
	config_error(r, key, "unknown parameter '%s' in 'active_if'", name ? name : "something");
	if (nearest)
		err_hint(r->err, "did you mean '%s'?", nearest);
	return -EINVAL;
}

static int parse_condition(struct config_reader *r, yaml_node_t *key, yaml_node_t *value,
		const struct tune_space *space, struct tune_condition *c)
{
	size_t n = 0;
	double *values;

	if (find_parent(r, key, space, &c->param) < 0)
		return -EINVAL;
	while (config_item(r, value, n))
		n++;
	if (n == 0 && !config_text(value))
		return config_error(r, value, "'active_if' needs the values of '%s', as a list", config_text(key));
	values = arena_alloc(r->arena, (n + 1) * sizeof(*values));
	if (!values)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	c->values = values;
	c->value_count = n ? n : 1;
	for (size_t i = 0; i < c->value_count; i++) {
		yaml_node_t *item = n ? config_item(r, value, i) : value;

		if (!config_text(item))
			return config_error(r, item, "a value of '%s' must be one text or number", config_text(key));
		if (tune_param_parse(&space->params[c->param], config_text(item), &values[i], r->err) < 0) {
			err_prefix(r->err, "%s:%zu: 'active_if'", r->path, config_line(item));
			return -EINVAL;
		}
	}
	return 0;
}

static int parse_conditions(struct config_reader *r, const struct draft *d, const struct tune_space *space,
		struct tune_param *p)
{
	struct tune_condition *conditions;
	size_t n = 0;
	int rc = 0;

	if (!d->active_if)
		return 0;
	if (d->active_if->type != YAML_MAPPING_NODE)
		return config_error(r, d->active_if, "'active_if' must be a parameter and its values: {mode: [a, b]}");
	n = (size_t)(d->active_if->data.mapping.pairs.top - d->active_if->data.mapping.pairs.start);
	conditions = arena_alloc(r->arena, (n + 1) * sizeof(*conditions));
	if (!conditions)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	for (size_t i = 0; i < n && rc == 0; i++) {
		yaml_node_pair_t *pair = &d->active_if->data.mapping.pairs.start[i];

		rc = parse_condition(r, yaml_document_get_node(r->document, pair->key),
				yaml_document_get_node(r->document, pair->value), space, &conditions[i]);
	}
	p->conditions = conditions;
	p->condition_count = n;
	return rc;
}

int tune_parse_params(struct config_reader *r, yaml_node_t *list, void *into)
{
	struct tune_space *space = &((struct tune_study *)into)->space;
	struct draft *drafts = arena_alloc(r->arena, TUNE_PARAMS_MAX * sizeof(*drafts));
	yaml_node_t *node;
	int rc = 0;

	if (!drafts)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	if (list->type != YAML_SEQUENCE_NODE || !config_item(r, list, 0))
		return config_error(r, list, "'params' must be a list of parameters");
	for (size_t i = 0; (node = config_item(r, list, i)) && rc == 0; i++) {
		if (i >= TUNE_PARAMS_MAX)
			return config_error(r, node, "too many parameters (maximum %d)", TUNE_PARAMS_MAX);
		rc = parse_param(r, node, space, &drafts[i]);
		space->params[space->count++] = drafts[i].param;
	}
	for (size_t i = 0; i < space->count && rc == 0; i++) {
		rc = parse_default(r, &drafts[i], &space->params[i]);
		if (rc == 0)
			rc = parse_conditions(r, &drafts[i], space, &space->params[i]);
	}
	if (rc == 0 && tune_space_finish(space, r->err) < 0) {
		err_prefix(r->err, "%s:%zu", r->path, config_line(list));
		rc = -EINVAL;
	}
	return rc;
}

int tune_parse_constraints(struct config_reader *r, yaml_node_t *list, struct tune_space *space)
{
	yaml_node_t *node;

	if (list->type != YAML_SEQUENCE_NODE)
		return config_error(r, list, "'constraints' must be a list of texts");
	for (size_t i = 0; (node = config_item(r, list, i)); i++) {
		const char *text = config_text(node);

		if (!text)
			return config_error(r, node, "a constraint must be a text");
		if (i >= TUNE_CONSTRAINTS_MAX)
			return config_error(r, node, "too many constraints (maximum %d)", TUNE_CONSTRAINTS_MAX);
		text = arena_strdup(r->arena, text);
		if (!text)
			return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
		if (tune_expression_parse(&space->constraints[i], space, text, r->arena, r->err) < 0) {
			err_prefix(r->err, "%s:%zu", r->path, config_line(node));
			return -EINVAL;
		}
		space->constraint_count++;
	}
	return 0;
}

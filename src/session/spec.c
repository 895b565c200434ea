#include "session/spec.h"

#include "base/sha256.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPEC(field) offsetof(struct session_spec, field)

static int nomem(struct config_reader *r)
{
	return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

/* Calls the function for every pair of a mapping with string keys. */
static int each_pair(struct config_reader *r, yaml_node_t *map, const char *what, void *into,
		int (*take)(struct config_reader *, yaml_node_t *key, yaml_node_t *value, void *into))
{
	int rc = 0;

	if (map->type != YAML_MAPPING_NODE)
		return config_error(r, map, "'%s' must be a mapping (name: value)", what);
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top && rc == 0; p++) {
		yaml_node_t *key = yaml_document_get_node(r->document, p->key);

		if (!config_text(key) || !*config_text(key))
			return config_error(r, key, "a name in '%s' must be a string", what);
		rc = take(r, key, yaml_document_get_node(r->document, p->value), into);
	}
	return rc;
}

static int parse_variable(struct config_reader *r, yaml_node_t *key, yaml_node_t *value, void *into)
{
	struct session_spec *s = into;
	const char *name = config_text(key), *text = config_text(value);

	if (!text || strchr(name, '='))
		return config_error(r, key, "invalid environment variable '%s' (expected NAME: value)", name);
	if (s->env_count == SESSION_ENV_MAX)
		return config_error(r, key, "too many variables in 'env' (maximum %d)", SESSION_ENV_MAX);
	s->env[s->env_count] = arena_printf(r->arena, "%s=%s", name, text);
	return s->env[s->env_count++] ? 0 : nomem(r);
}

static int parse_env(struct config_reader *r, yaml_node_t *map, void *into)
{
	return each_pair(r, map, "env", into, parse_variable);
}

static int parse_knob(struct config_reader *r, yaml_node_t *key, yaml_node_t *value, void *into)
{
	struct session_spec *s = into;
	struct session_knobs check = { .count = 0 };
	struct session_knob *k = &s->knobs[s->knob_count];

	if (!config_text(value))
		return config_error(r, key, "knob '%s' must be a number or a string", config_text(key));
	if (s->knob_count == SESSION_KNOBS_MAX)
		return config_error(r, key, "too many knobs (maximum %d)", SESSION_KNOBS_MAX);
	if (session_knobs_add(&check, config_text(key), config_text(value), r->err) < 0) {
		err_prefix(r->err, "%s:%zu", r->path, config_line(key));
		return -EINVAL;
	}
	*k = (struct session_knob){ arena_strdup(r->arena, config_text(key)),
		arena_strdup(r->arena, config_text(value)) };
	s->knob_count++;
	return k->name && k->text ? 0 : nomem(r);
}

static int parse_knobs(struct config_reader *r, yaml_node_t *map, void *into)
{
	return each_pair(r, map, "knobs", into, parse_knob);
}

static int parse_size(struct config_reader *r, yaml_node_t *value, void *into)
{
	static const char units[] = "KMGT";
	const char *text = config_text(value), *unit;
	char *end;
	double bytes = text ? strtod(text, &end) : -1;

	if (bytes > 0 && end != text && *end && (unit = strchr(units, *end))) {
		bytes *= exp2(10.0 * (double)(unit - units + 1));
		end += strcmp(end + 1, "iB") == 0 ? 3 : 1;
	}
	if (!(bytes >= 1 && bytes < 1e18) || *end)
		return config_error(r, value, "'memory' must be a size such as 512M or 2GiB");
	((struct job_limits *)into)->memory_bytes = (uint64_t)bytes;
	return 0;
}

static int parse_cpus(struct config_reader *r, yaml_node_t *value, void *into)
{
	double cpus;

	if (!config_number(value, &cpus) || !(cpus >= 0.01 && cpus <= 4096))
		return config_error(r, value, "'cpus' must be a number from 0.01 to 4096");
	((struct job_limits *)into)->cpus = cpus;
	return 0;
}

static int parse_limits(struct config_reader *r, yaml_node_t *map, void *into)
{
	static const struct config_key keys[] = {
		{ "cpus", CONFIG_OTHER, 0, .take = parse_cpus },
		{ "memory", CONFIG_OTHER, 0, .take = parse_size },
		{ "pids", CONFIG_WHOLE, offsetof(struct job_limits, pids), .min = 1 },
		{ NULL },
	};

	return config_take_map(r, map, keys, "limits", &((struct session_spec *)into)->limits);
}

static int parse_ladder(struct config_reader *r, yaml_node_t *map, void *into)
{
	static const struct config_key keys[] = {
		{ "interrupt", CONFIG_DURATION, offsetof(struct job_ladder, interrupt_ns) },
		{ "terminate", CONFIG_DURATION, offsetof(struct job_ladder, terminate_ns) },
		{ NULL },
	};

	return config_take_map(r, map, keys, "ladder", &((struct session_spec *)into)->ladder);
}

static bool is_digest(const char *text)
{
	return strlen(text) == SHA256_TEXT_BYTES - 1 && !text[strspn(text, "0123456789abcdef")];
}

static int parse_dataset(struct config_reader *r, yaml_node_t *value, void *into)
{
	static const struct config_key keys[] = {
		{ "source", CONFIG_TEXT, offsetof(struct session_dataset, source) },
		{ "sha256", CONFIG_TEXT, offsetof(struct session_dataset, sha256) },
		{ "endpoint", CONFIG_TEXT, offsetof(struct session_dataset, endpoint) },
		{ NULL },
	};
	struct session_dataset *d = &((struct session_spec *)into)->dataset;
	int rc = 0;

	if (config_text(value))
		d->source = arena_strdup(r->arena, config_text(value));
	else
		rc = config_take_map(r, value, keys, "dataset", d);
	if (rc == 0 && !d->source)
		return config_error(r, value, "a dataset needs a 'source', such as file:PATH");
	if (rc == 0 && dataset_check(d, r->err) < 0) {
		err_prefix(r->err, "%s:%zu", r->path, config_line(value));
		return -EINVAL;
	}
	if (rc == 0 && d->sha256 && !is_digest(d->sha256))
		return config_error(r, value, "'sha256' must be 64 hexadecimal digits");
	return rc;
}

/* "SOURCE:TARGET" with an optional ":ro" or ":rw". */
static int parse_mount(struct config_reader *r, const yaml_node_t *item, struct job_mount *m)
{
	char *source = arena_strdup(r->arena, config_text(item));
	char *target = source ? strchr(source, ':') : NULL, *mode = target ? strchr(target + 1, ':') : NULL;

	if (!target || *source != '/' || target[1] != '/' ||
			(mode && strcmp(mode, ":ro") != 0 && strcmp(mode, ":rw") != 0))
		return config_error(r, item,
				"invalid mount (expected SOURCE:TARGET or SOURCE:TARGET:ro, with absolute paths)");
	*target++ = '\0';
	if (mode)
		*mode++ = '\0';
	*m = (struct job_mount){ source, target, mode && strcmp(mode, "ro") == 0, NULL };
	return 0;
}

/* The same as a mapping, for a mount that is confined to a directory. */
static int parse_confined(struct config_reader *r, yaml_node_t *item, struct job_mount *m)
{
	static const struct config_key keys[] = {
		{ "source", CONFIG_TEXT, offsetof(struct job_mount, source) },
		{ "target", CONFIG_TEXT, offsetof(struct job_mount, target) },
		{ "beneath", CONFIG_TEXT, offsetof(struct job_mount, beneath) },
		{ "read_only", CONFIG_TRUTH, offsetof(struct job_mount, is_read_only) },
		{ NULL },
	};
	int rc;

	*m = (struct job_mount){ .is_read_only = true };
	rc = config_take_map(r, item, keys, "a mount", m);
	if (rc == 0 && (!m->source || *m->source != '/' || !m->target || *m->target != '/' || strchr(m->target, ':')))
		return config_error(r, item, "a mount needs a 'source' and a 'target', with absolute paths");
	if (rc == 0 && m->beneath && *m->beneath != '/')
		return config_error(r, item, "'beneath' must be an absolute path");
	return rc;
}

static int take_mount(struct config_reader *r, yaml_node_t *item, struct session_spec *s)
{
	int rc;

	if (s->mount_count == SESSION_MOUNTS_MAX)
		return config_error(r, item, "too many mounts (maximum %d)", SESSION_MOUNTS_MAX);
	rc = config_text(item) ? parse_mount(r, item, &s->mounts[s->mount_count])
			       : parse_confined(r, item, &s->mounts[s->mount_count]);
	s->mount_count += rc == 0;
	return rc;
}

static int parse_mounts(struct config_reader *r, yaml_node_t *list, void *into)
{
	yaml_node_t *item;
	int rc = 0;

	if (list->type != YAML_SEQUENCE_NODE)
		return config_error(r, list, "'mounts' must be a list");
	for (size_t i = 0; rc == 0 && (item = config_item(r, list, i)); i++)
		rc = take_mount(r, item, into);
	return rc;
}

static int parse_points(struct config_reader *r, yaml_node_t *list, void *into)
{
	struct session_sweep *s = into;
	yaml_node_t *item;

	if (list->type != YAML_SEQUENCE_NODE)
		return config_error(r, list, "'values' must be a list");
	for (size_t i = 0; (item = config_item(r, list, i)); i++) {
		if (i == SESSION_SWEEP_MAX || !config_text(item))
			return config_error(r, item, "'values' of a sweep must be strings (maximum %d)",
					SESSION_SWEEP_MAX);
		s->texts[i] = arena_strdup(r->arena, config_text(item));
		if (!s->texts[i])
			return nomem(r);
		s->count = i + 1;
	}
	return 0;
}

/* Limits are numbers or sizes; values for arguments may be any text. */
static int parse_values(struct config_reader *r, yaml_node_t *map, struct session_sweep *s)
{
	yaml_node_t *list = config_find(r, map, "values");

	for (size_t i = 0; i < s->count; i++) {
		struct job_limits limits = { 0 };
		int rc = 0;

		if (strcmp(s->over, "cpus") == 0)
			rc = parse_cpus(r, config_item(r, list, i), &limits);
		else if (strcmp(s->over, "memory") == 0)
			rc = parse_size(r, config_item(r, list, i), &limits);
		if (rc < 0)
			return rc;
		s->values[i] = limits.cpus > 0 ? limits.cpus : (double)limits.memory_bytes;
		if (!s->values[i] && !config_number(config_item(r, list, i), &s->values[i]))
			s->values[i] = NAN;
	}
	return 0;
}

static int parse_sweep(struct config_reader *r, yaml_node_t *map, void *into)
{
	static const struct config_key keys[] = {
		{ "over", CONFIG_TEXT, offsetof(struct session_sweep, over) },
		{ "values", CONFIG_OTHER, 0, .take = parse_points },
		{ "metric", CONFIG_TEXT, offsetof(struct session_sweep, metric) },
		{ "tolerance", CONFIG_REAL, offsetof(struct session_sweep, tolerance) },
		{ NULL },
	};
	struct session_sweep *s = &((struct session_spec *)into)->sweep;
	int rc;

	s->metric = "steps_per_second";
	s->tolerance = 0.05;
	rc = config_take_map(r, map, keys, "sweep", s);
	if (rc == 0 && (!s->over || s->count < 2))
		return config_error(r, map, "a sweep needs 'over' and at least two 'values'");
	if (rc == 0 && !(s->tolerance >= 0 && s->tolerance < 1))
		return config_error(r, map, "'tolerance' must be from 0 to 1");
	return rc < 0 ? rc : parse_values(r, map, s);
}

static int parse_outputs(struct config_reader *r, yaml_node_t *list, void *into)
{
	static const char *const words[] = { [SESSION_JSON] = "json",
		[SESSION_OPENMETRICS] = "openmetrics",
		[SESSION_CSV] = "csv",
		[SESSION_HTML] = "html" };
	struct session_spec *s = into;
	yaml_node_t *item;

	if (list->type != YAML_SEQUENCE_NODE)
		return config_error(r, list, "'outputs' must be a list");
	for (size_t i = 0; (item = config_item(r, list, i)); i++) {
		size_t k = 0;

		while (k < SESSION_OUTPUTS && (!config_text(item) || strcmp(config_text(item), words[k]) != 0))
			k++;
		if (k == SESSION_OUTPUTS)
			return config_error(r, item, "unknown output (supported: json, openmetrics, csv, html)");
		s->outputs[k] = true;
	}
	return 0;
}

static int parse_threshold(struct config_reader *r, yaml_node_t *key, yaml_node_t *value, void *into)
{
	static const struct config_key keys[] = {
		{ "min", CONFIG_REAL, offsetof(struct session_threshold, min) },
		{ "max", CONFIG_REAL, offsetof(struct session_threshold, max) },
		{ NULL },
	};
	struct session_spec *s = into;
	struct session_threshold *t = &s->thresholds[s->threshold_count];
	int rc;

	if (s->threshold_count == SESSION_THRESHOLDS_MAX)
		return config_error(r, key, "too many thresholds (maximum %d)", SESSION_THRESHOLDS_MAX);
	*t = (struct session_threshold){ arena_strdup(r->arena, config_text(key)), -INFINITY, INFINITY };
	rc = t->metric ? config_take_map(r, value, keys, "a threshold", t) : nomem(r);
	if (rc == 0 && isinf(t->min) && isinf(t->max))
		return config_error(r, key, "the threshold of '%s' needs a 'min' or a 'max'", t->metric);
	s->threshold_count++;
	return rc;
}

static int parse_thresholds(struct config_reader *r, yaml_node_t *map, void *into)
{
	return each_pair(r, map, "thresholds", into, parse_threshold);
}

static const struct config_key spec_keys[] = {
	{ "name", CONFIG_TEXT, SPEC(name) },
	{ "command", CONFIG_LIST, SPEC(command) },
	{ "image", CONFIG_TEXT, SPEC(image) },
	{ "rootfs", CONFIG_TEXT, SPEC(root) },
	{ "args", CONFIG_LIST, SPEC(args) },
	{ "container_args", CONFIG_LIST, SPEC(engine_args) },
	{ "env", CONFIG_OTHER, 0, .take = parse_env },
	{ "dataset", CONFIG_OTHER, 0, .take = parse_dataset },
	{ "mounts", CONFIG_OTHER, 0, .take = parse_mounts },
	{ "companions", CONFIG_OTHER, 0, .take = spec_parse_companions },
	{ "tools", CONFIG_OTHER, 0, .take = spec_parse_tools },
	{ "probes", CONFIG_OTHER, 0, .take = spec_parse_probes },
	{ "knobs", CONFIG_OTHER, 0, .take = parse_knobs },
	{ "sweep", CONFIG_OTHER, 0, .take = parse_sweep },
	{ "limits", CONFIG_OTHER, 0, .take = parse_limits },
	{ "warm_up", CONFIG_DURATION, SPEC(warm_up_ns) },
	{ "duration", CONFIG_DURATION, SPEC(duration_ns) },
	{ "timeout", CONFIG_DURATION, SPEC(timeout_ns) },
	{ "ladder", CONFIG_OTHER, 0, .take = parse_ladder },
	{ "repeats", CONFIG_WHOLE, SPEC(repeats), .min = 1 },
	{ "outputs", CONFIG_OTHER, 0, .take = parse_outputs },
	{ "thresholds", CONFIG_OTHER, 0, .take = parse_thresholds },
	{ NULL },
};

static int check(struct config_reader *r, const yaml_node_t *root, struct session_spec *s)
{
	bool has_command = s->command && s->command[0];

	if (s->image && s->root)
		return config_error(r, root, "'image' and 'rootfs' are mutually exclusive");
	if (!has_command && !s->image)
		return config_error(r, root, "a session needs a 'command' or an 'image'");
	if (!has_command && !(s->args && s->args[0]))
		return config_error(r, root, "the image needs a 'command', or 'args' for its own command");
	if (s->engine_args && !s->image)
		return config_error(r, root, "'container_args' needs an 'image'");
	if (s->mount_count && !s->image && !s->root)
		return config_error(r, root, "'mounts' needs an 'image' or a 'rootfs'");
	for (size_t i = 0; i < s->tool_count; i++)
		if (s->tools[i].tool_wrap && (s->image || s->root))
			return config_error(r, root,
					"tool '%s' wraps the command and cannot be used with an 'image' or 'rootfs'",
					s->tools[i].name);
	if (s->repeats > SESSION_REPEATS_MAX)
		return config_error(r, root, "'repeats' must be at most %d", SESSION_REPEATS_MAX);
	if (!s->name)
		s->name = s->image ? s->image : s->command[0];
	return 0;
}

static int parse_spec(struct config_reader *r, yaml_node_t *root)
{
	int rc = config_take_map(r, root, spec_keys, NULL, r->context);

	return rc ? rc : check(r, root, r->context);
}

int session_spec_load(struct session_spec *spec, const char *path, struct arena *arena, struct sonde_err *err)
{
	struct config_reader r = { .path = path, .arena = arena, .err = err, .what = "a session", .context = spec };

	*spec = (struct session_spec){ .ladder = JOB_LADDER_USUAL, .repeats = 1, .probes = { "trace", "system" } };
	return config_load(&r, parse_spec);
}

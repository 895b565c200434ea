/* Reading session files; see spec.h. */
#include "session/spec.h"

#include "base/sha256.h"
#include "config/config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPEC(field) offsetof(struct session_spec, field)

static int nomem(struct config_reader *r)
{
	return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
}

/* Every pair of a mapping of texts to anything. */
static int each_pair(struct config_reader *r, yaml_node_t *map, const char *what, void *into,
		int (*take)(struct config_reader *, yaml_node_t *key, yaml_node_t *value, void *into))
{
	int rc = 0;

	if (map->type != YAML_MAPPING_NODE)
		return config_error(r, map, "'%s' must be names with values (name: value)", what);
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top && rc == 0; p++) {
		yaml_node_t *key = yaml_document_get_node(r->document, p->key);

		if (!config_text(key) || !*config_text(key))
			return config_error(r, key, "a name of '%s' must be a text", what);
		rc = take(r, key, yaml_document_get_node(r->document, p->value), into);
	}
	return rc;
}

static int take_variable(struct config_reader *r, yaml_node_t *key, yaml_node_t *value, void *into)
{
	struct session_spec *s = into;
	const char *name = config_text(key), *text = config_text(value);

	if (!text || strchr(name, '='))
		return config_error(r, key, "the variable '%s' must be a name without '=' and a text", name);
	if (s->env_count == SESSION_ENV_MAX)
		return config_error(r, key, "'env' has at most %d variables", SESSION_ENV_MAX);
	s->env[s->env_count] = arena_printf(r->arena, "%s=%s", name, text);
	return s->env[s->env_count++] ? 0 : nomem(r);
}

static int take_env(struct config_reader *r, yaml_node_t *map, void *into)
{
	return each_pair(r, map, "env", into, take_variable);
}

static int take_size(struct config_reader *r, yaml_node_t *value, void *into)
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

static int take_cpus(struct config_reader *r, yaml_node_t *value, void *into)
{
	double cpus;

	if (!config_number(value, &cpus) || !(cpus >= 0.01 && cpus <= 4096))
		return config_error(r, value, "'cpus' must be a number from 0.01 to 4096");
	((struct job_limits *)into)->cpus = cpus;
	return 0;
}

static int take_limits(struct config_reader *r, yaml_node_t *map, void *into)
{
	static const struct config_key keys[] = {
		{ "cpus", CONFIG_OTHER, 0, .take = take_cpus },
		{ "memory", CONFIG_OTHER, 0, .take = take_size },
		{ "pids", CONFIG_WHOLE, offsetof(struct job_limits, pids), .min = 1 },
		{ NULL },
	};

	return config_take_map(r, map, keys, "limits", &((struct session_spec *)into)->limits);
}

static int take_ladder(struct config_reader *r, yaml_node_t *map, void *into)
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

static int take_source(struct config_reader *r, yaml_node_t *value, void *into)
{
	static const char scheme[] = "file:";
	const char *text = config_text(value);

	if (!text || strncmp(text, scheme, sizeof(scheme) - 1) != 0 || !text[sizeof(scheme) - 1])
		return config_error(r, value, "a dataset is a file here, file:PATH");
	((struct session_dataset *)into)->path = arena_strdup(r->arena, text + sizeof(scheme) - 1);
	return ((struct session_dataset *)into)->path ? 0 : nomem(r);
}

static int take_dataset(struct config_reader *r, yaml_node_t *value, void *into)
{
	static const struct config_key keys[] = {
		{ "source", CONFIG_OTHER, 0, .take = take_source },
		{ "sha256", CONFIG_TEXT, offsetof(struct session_dataset, sha256) },
		{ NULL },
	};
	struct session_dataset *d = &((struct session_spec *)into)->dataset;
	int rc = config_text(value) ? take_source(r, value, d) : config_take_map(r, value, keys, "dataset", d);

	if (rc == 0 && !d->path)
		return config_error(r, value, "a dataset needs a 'source', file:PATH");
	if (rc == 0 && d->sha256 && !is_digest(d->sha256))
		return config_error(r, value, "'sha256' must be 64 digits 0-9, a-f");
	return rc;
}

static int take_outputs(struct config_reader *r, yaml_node_t *list, void *into)
{
	static const char *const words
			[] = { [SESSION_JSON] = "json", [SESSION_OPENMETRICS] = "openmetrics", [SESSION_CSV] = "csv" };
	struct session_spec *s = into;
	yaml_node_t *item;

	if (list->type != YAML_SEQUENCE_NODE)
		return config_error(r, list, "'outputs' must be a list");
	for (size_t i = 0; (item = config_item(r, list, i)); i++) {
		size_t k = 0;

		while (k < SESSION_OUTPUTS && (!config_text(item) || strcmp(config_text(item), words[k]) != 0))
			k++;
		if (k == SESSION_OUTPUTS)
			return config_error(r, item, "an output is json, openmetrics or csv");
		s->outputs[k] = true;
	}
	return 0;
}

static int take_threshold(struct config_reader *r, yaml_node_t *key, yaml_node_t *value, void *into)
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
		return config_error(r, key, "there are at most %d thresholds", SESSION_THRESHOLDS_MAX);
	*t = (struct session_threshold){ arena_strdup(r->arena, config_text(key)), -INFINITY, INFINITY };
	rc = t->metric ? config_take_map(r, value, keys, "a threshold", t) : nomem(r);
	if (rc == 0 && isinf(t->min) && isinf(t->max))
		return config_error(r, key, "the threshold of '%s' needs a 'min' or a 'max'", t->metric);
	s->threshold_count++;
	return rc;
}

static int take_thresholds(struct config_reader *r, yaml_node_t *map, void *into)
{
	return each_pair(r, map, "thresholds", into, take_threshold);
}

static const struct config_key spec_keys[] = {
	{ "name", CONFIG_TEXT, SPEC(name) },
	{ "command", CONFIG_LIST, SPEC(command) },
	{ "image", CONFIG_TEXT, SPEC(image) },
	{ "rootfs", CONFIG_TEXT, SPEC(root) },
	{ "args", CONFIG_LIST, SPEC(args) },
	{ "container_args", CONFIG_LIST, SPEC(engine_args) },
	{ "env", CONFIG_OTHER, 0, .take = take_env },
	{ "dataset", CONFIG_OTHER, 0, .take = take_dataset },
	{ "limits", CONFIG_OTHER, 0, .take = take_limits },
	{ "warm_up", CONFIG_DURATION, SPEC(warm_up_ns) },
	{ "duration", CONFIG_DURATION, SPEC(duration_ns) },
	{ "timeout", CONFIG_DURATION, SPEC(timeout_ns) },
	{ "ladder", CONFIG_OTHER, 0, .take = take_ladder },
	{ "repeats", CONFIG_WHOLE, SPEC(repeats), .min = 1 },
	{ "outputs", CONFIG_OTHER, 0, .take = take_outputs },
	{ "thresholds", CONFIG_OTHER, 0, .take = take_thresholds },
	{ NULL },
};

static int check(struct config_reader *r, const yaml_node_t *root, struct session_spec *s)
{
	bool has_command = s->command && s->command[0];

	if (s->image && s->root)
		return config_error(r, root, "'image' and 'rootfs' do not go together");
	if (!has_command && !s->image)
		return config_error(r, root, "a session needs a 'command' or an 'image'");
	if (!has_command && !(s->args && s->args[0]))
		return config_error(r, root, "the image needs a 'command', or 'args' for its own");
	if (s->engine_args && !s->image)
		return config_error(r, root, "'container_args' are of an 'image'");
	if (s->repeats > SESSION_REPEATS_MAX)
		return config_error(r, root, "'repeats' is at most %d", SESSION_REPEATS_MAX);
	if (!s->name)
		s->name = s->image ? s->image : s->command[0];
	return 0;
}

static int take_spec(struct config_reader *r, yaml_node_t *root)
{
	int rc = config_take_map(r, root, spec_keys, NULL, r->context);

	return rc ? rc : check(r, root, r->context);
}

int session_spec_load(struct session_spec *spec, const char *path, struct arena *arena, struct sonde_err *err)
{
	struct config_reader r = { .path = path, .arena = arena, .err = err, .what = "a session", .context = spec };

	*spec = (struct session_spec){ .ladder = JOB_LADDER_USUAL, .repeats = 1 };
	return config_load(&r, take_spec);
}

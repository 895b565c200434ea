#include "session/jobs-config.h"

#include "config/config.h"

#include <errno.h>

#define TIMEOUT_USUAL_NS 3600000000000

static int take_app(struct config_reader *r, yaml_node_t *key, yaml_node_t *value, struct jobs_config *c)
{
	static const struct config_key keys[] = {
		{ "command", CONFIG_LIST, offsetof(struct jobs_app, command) },
		{ "rootfs", CONFIG_TEXT, offsetof(struct jobs_app, root) },
		{ NULL },
	};
	struct jobs_app *app = &c->apps[c->app_count];
	int rc;

	if (!config_text(key))
		return config_error(r, key, "the name of an application must be a text");
	if (c->app_count == JOBS_APPS_MAX)
		return config_error(r, key, "there are at most %d applications", JOBS_APPS_MAX);
	app->name = arena_strdup(r->arena, config_text(key));
	if (!app->name)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	rc = config_take_map(r, value, keys, "an application", app);
	if (rc == 0 && !(app->command && app->command[0]))
		return config_error(r, key, "the application '%s' needs a 'command'", app->name);
	c->app_count++;
	return rc;
}

static int take_apps(struct config_reader *r, yaml_node_t *map, void *into)
{
	int rc = 0;

	if (map->type != YAML_MAPPING_NODE)
		return config_error(r, map, "'apps' must be names with a command each");
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top && rc == 0; p++)
		rc = take_app(r, yaml_document_get_node(r->document, p->key),
				yaml_document_get_node(r->document, p->value), into);
	return rc;
}

static int take_config(struct config_reader *r, yaml_node_t *root)
{
	static const struct config_key keys[] = {
		{ "apps", CONFIG_OTHER, 0, .take = take_apps },
		{ "images", CONFIG_LIST, offsetof(struct jobs_config, images) },
		{ "mounts", CONFIG_LIST, offsetof(struct jobs_config, mounts) },
		{ "timeout", CONFIG_DURATION, offsetof(struct jobs_config, timeout_ns) },
		{ NULL },
	};

	return config_take_map(r, root, keys, NULL, r->context);
}

int jobs_config_load(struct jobs_config *c, const char *path, struct arena *arena, struct sonde_err *err)
{
	struct config_reader r = { .path = path,
		.arena = arena,
		.err = err,
		.what = "the configuration of a job server",
		.context = c };

	*c = (struct jobs_config){ .timeout_ns = TIMEOUT_USUAL_NS };
	return path ? config_load(&r, take_config) : 0;
}

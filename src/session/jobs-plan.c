/* Checks a request against the allow-list. */
#include "session/jobs.h"

#include "base/cleanup.h"
#include "base/shell-words.h"
#include "config/config.h"
#include "launch/mounts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TIMEOUT_USUAL_NS 3600000000000

static int parse_app(struct config_reader *r, yaml_node_t *key, yaml_node_t *value, struct jobs_config *c)
{
	static const struct config_key keys[] = {
		{ "command", CONFIG_LIST, offsetof(struct jobs_app, command) },
		{ "rootfs", CONFIG_TEXT, offsetof(struct jobs_app, root) },
		{ NULL },
	};
	struct jobs_app *app = &c->apps[c->app_count];
	int rc;

	if (!config_text(key))
		return config_error(r, key, "an application name must be a string");
	if (c->app_count == JOBS_APPS_MAX)
		return config_error(r, key, "too many applications (maximum %d)", JOBS_APPS_MAX);
	app->name = arena_strdup(r->arena, config_text(key));
	if (!app->name)
		return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
	rc = config_take_map(r, value, keys, "an application", app);
	if (rc == 0 && !(app->command && app->command[0]))
		return config_error(r, key, "the application '%s' needs a 'command'", app->name);
	c->app_count++;
	return rc;
}

static int parse_apps(struct config_reader *r, yaml_node_t *map, void *into)
{
	int rc = 0;

	if (map->type != YAML_MAPPING_NODE)
		return config_error(r, map, "'apps' must be a mapping of names to commands");
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top && rc == 0; p++)
		rc = parse_app(r, yaml_document_get_node(r->document, p->key),
				yaml_document_get_node(r->document, p->value), into);
	return rc;
}

static int parse_config(struct config_reader *r, yaml_node_t *root)
{
	static const struct config_key keys[] = {
		{ "apps", CONFIG_OTHER, 0, .take = parse_apps },
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
	return path ? config_load(&r, parse_config) : 0;
}

/* A directory of the configuration, without its mode. */
struct allowed_dir {
	const char *path;
	size_t bytes;
	bool is_writable;
};

static struct allowed_dir parse_dir(const char *word)
{
	struct allowed_dir dir = { .path = word, .bytes = strlen(word) };

	if (dir.bytes > 3 && (strcmp(word + dir.bytes - 3, ":rw") == 0 || strcmp(word + dir.bytes - 3, ":ro") == 0)) {
		dir.is_writable = word[dir.bytes - 1] == 'w';
		dir.bytes -= 3;
	}
	while (dir.bytes > 1 && word[dir.bytes - 1] == '/')
		dir.bytes--;
	return dir;
}

static bool is_below(const char *path, const struct allowed_dir *dir)
{
	return strncmp(path, dir->path, dir->bytes) == 0 &&
			(!path[dir->bytes] || path[dir->bytes] == '/' || (dir->bytes == 1 && *dir->path == '/'));
}

/* Finds the innermost allowed directory above the path: it may be read-only below a writable one. */
static bool find_allowed(const struct jobs_config *c, const char *path, struct allowed_dir *found)
{
	*found = (struct allowed_dir){ .bytes = 0 };
	for (const char **word = c->mounts; word && *word; word++) {
		struct allowed_dir dir = parse_dir(*word);

		if (is_below(path, &dir) && dir.bytes > found->bytes)
			*found = dir;
	}
	return found->bytes > 0;
}

static bool is_plain_path(const char *path)
{
	size_t n = strlen(path);

	return *path == '/' && !strstr(path, "/../") && !(n >= 3 && strcmp(path + n - 3, "/..") == 0);
}

static int cannot_see(const char *source, struct sonde_err *err)
{
	err_set(err, EACCES, "containers may not see '%s' here", source);
	err_hint(err, "the server's configuration lists what they may, as 'mounts'");
	return -EACCES;
}

/* For an early error only: the decisive check is made when the session starts. */
static int check_now(const struct job_mount *m, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = mount_open(m);

	if (fd == -EXDEV || fd == -ELOOP)
		return cannot_see(m->source, err);
	return fd < 0 ? err_sys(err, EINVAL, "'%s' not found", m->source) : 0;
}

/* Checks the path by its name, and what it currently resolves to. */
static int check_mount(const struct jobs_plan *plan, const struct jobs_config *c, struct job_mount *m, bool is_asked,
		struct arena *arena, struct sonde_err *err)
{
	struct allowed_dir dir;

	if (!is_plain_path(m->source))
		return err_set(err, EINVAL, "'%s' is not a plain absolute path", m->source);
	if (!find_allowed(c, m->source, &dir))
		return cannot_see(m->source, err);
	if (is_asked && !dir.is_writable) {
		err_set(err, EACCES, "'%s' is read-only", m->source);
		err_hint(err, "the server's configuration allows writing by '%.*s:rw' in 'mounts'", (int)dir.bytes,
				dir.path);
		return -EACCES;
	}
	m->is_read_only = !is_asked;
	m->beneath = arena_copy(arena, dir.path, dir.bytes);
	if (!m->beneath)
		return err_sys(err, ENOMEM, "cannot queue the job");
	return plan->app && !plan->app->root ? 0 : check_now(m, err);
}

static int parse_volume(struct jobs_plan *plan, const struct jobs_config *c, const char *value, struct arena *arena,
		struct sonde_err *err)
{
	struct job_mount m = { .source = arena_strdup(arena, value) };
	char *colon = m.source ? strchr(m.source, ':') : NULL, *mode = colon ? strchr(colon + 1, ':') : NULL;
	int rc;

	if (!colon || colon[1] != '/')
		return err_set(err, EINVAL, "invalid mount '%s' (expected SOURCE:TARGET with absolute paths)", value);
	if (mode && strcmp(mode, ":ro") != 0 && strcmp(mode, ":rw") != 0)
		return err_set(err, EINVAL, "invalid mount mode '%s' (supported: ro, rw)", mode + 1);
	*colon = '\0';
	if (mode)
		*mode = '\0';
	m.target = colon + 1;
	rc = check_mount(plan, c, &m, mode && mode[2] == 'w', arena, err);
	if (rc < 0)
		return rc;
	if (plan->app && !plan->app->root) {
		plan->has_unused_mounts = true;
		return 0;
	}
	if (plan->mount_count == SESSION_MOUNTS_MAX)
		return err_set(err, EINVAL, "too many mounts in app_docker_args (maximum %d)", SESSION_MOUNTS_MAX);
	plan->mounts[plan->mount_count++] = m;
	return 0;
}

static int parse_variable(struct jobs_plan *plan, const struct jobs_config *c, const char *value, struct arena *arena,
		struct sonde_err *err)
{
	const char *equals = strchr(value, '=');
	char *name = equals && equals > value ? arena_copy(arena, value, (size_t)(equals - value)) : NULL;

	(void)c;
	if (!name)
		return err_set(err, EINVAL, "invalid variable '%s' (expected NAME=VALUE)", value);
	if (plan->env_count == JOBS_WORDS_MAX)
		return err_set(err, EINVAL, "too many variables in app_docker_args");
	if (strncmp(name, "LD_", 3) == 0 || strncmp(name, "SONDE_", 6) == 0)
		return err_set(err, EACCES, "the variable '%s' must not be set", name);
	plan->env[plan->env_count][0] = name;
	plan->env[plan->env_count++][1] = equals + 1;
	return 0;
}

/* The allow-list. Other options are refused, since most options of `docker run` expose the host. */
static const struct {
	const char *word;
	int (*take)(struct jobs_plan *, const struct jobs_config *, const char *value, struct arena *,
			struct sonde_err *);
} allowed[] = {
	{ "-v", parse_volume },
	{ "--volume", parse_volume },
	{ "-e", parse_variable },
	{ "--env", parse_variable },
};

/* Parses the option at words[0]; returns the number of words consumed. */
static int parse_option(struct jobs_plan *plan, const struct jobs_config *c, char **words, struct arena *arena,
		struct sonde_err *err)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		size_t n = strlen(allowed[i].word);
		bool is_joined = n > 2 && strncmp(words[0], allowed[i].word, n) == 0 && words[0][n] == '=';
		const char *value = is_joined ? words[0] + n + 1 : words[1];
		int rc;

		if (!is_joined && strcmp(words[0], allowed[i].word) != 0)
			continue;
		if (!value)
			return err_set(err, EINVAL, "'%s' needs a value", words[0]);
		rc = allowed[i].take(plan, c, value, arena, err);
		return rc < 0 ? rc : is_joined ? 1 : 2;
	}
	return err_set(err, EACCES, "'%s' is not allowed in app_docker_args (supported: -v, -e)", words[0]);
}

static bool is_image_name(const char *name)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@-";

	return *name && *name != '-' && strlen(name) < 256 && !name[strspn(name, fine)];
}

static int check_image(const struct jobs_config *c, const char *name, struct sonde_err *err)
{
	if (!is_image_name(name))
		return err_set(err, EINVAL, "app_name must be an application's or image's name");
	for (const char **prefix = c->images; prefix && *prefix; prefix++)
		if (strncmp(name, *prefix, strlen(*prefix)) == 0)
			return 0;
	return c->images ? err_set(err, EACCES, "the image '%s' is not allowed", name) : 0;
}

int jobs_plan(struct jobs_plan *plan, const struct jobs_config *c, const char *app_name, const char *app_args,
		const char *docker_args, struct arena *arena, struct sonde_err *err)
{
	int rc = 0;
	char **words;

	*plan = (struct jobs_plan){ .app_name = app_name };
	if (!app_name || !*app_name)
		return err_set(err, EINVAL, "app_name is missing");
	for (size_t i = 0; i < c->app_count && !plan->app; i++)
		if (strcmp(c->apps[i].name, app_name) == 0)
			plan->app = &c->apps[i];
	if (!plan->app)
		rc = check_image(c, app_name, err);
	if (rc == 0 && (rc = words_split(app_args ? app_args : "", arena, &plan->args, err)) < 0)
		err_prefix(err, "app_args");
	if (rc == 0 && !plan->app && !plan->args[0])
		rc = err_set(err, EINVAL, "app_args is missing: an image needs arguments");
	if (rc < 0)
		return rc;
	rc = words_split(docker_args ? docker_args : "", arena, &words, err);
	if (rc < 0) {
		err_prefix(err, "app_docker_args");
		return rc;
	}
	while (*words && (rc = parse_option(plan, c, words, arena, err)) > 0)
		words += rc;
	return rc < 0 ? rc : 0;
}

static void write_words(struct json *j, const char *key, const char *const *words)
{
	json_karray(j, key);
	for (; words && *words; words++)
		json_str(j, *words);
	json_end(j);
}

void jobs_plan_write(struct json *j, const struct jobs_config *c, const struct jobs_plan *plan)
{
	static const char *const outputs[] = { "json", "openmetrics", "csv", NULL };

	json_object(j);
	json_kstr(j, "name", plan->app_name);
	if (plan->app)
		write_words(j, "command", (const char *const *)plan->app->command);
	if (plan->app && plan->app->root)
		json_kstr(j, "rootfs", plan->app->root);
	if (!plan->app)
		json_kstr(j, "image", plan->app_name);
	write_words(j, "args", (const char *const *)plan->args);
	if (plan->mount_count) {
		json_karray(j, "mounts");
		for (size_t i = 0; i < plan->mount_count; i++) {
			const struct job_mount *m = &plan->mounts[i];

			json_object(j);
			json_kstr(j, "source", m->source);
			json_kstr(j, "target", m->target);
			json_kstr(j, "beneath", m->beneath);
			json_kbool(j, "read_only", m->is_read_only);
			json_end(j);
		}
		json_end(j);
	}
	if (plan->env_count) {
		json_kobject(j, "env");
		for (size_t i = 0; i < plan->env_count; i++)
			json_kstr(j, plan->env[i][0], plan->env[i][1]);
		json_end(j);
	}
	if (c->timeout_ns) {
		char text[32];

		snprintf(text, sizeof(text), "%.3fs", (double)c->timeout_ns / 1e9);
		json_kstr(j, "timeout", text);
	}
	write_words(j, "outputs", outputs);
	json_end(j);
}

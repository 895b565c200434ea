#include "session/companions.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/shell-words.h"
#include "launch/launch.h"
#include "probe/probe.h"
#include "session/spec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READY_USUAL_NS 30000000000
#define PAUSE_NS 50000000

static bool is_listening(int64_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	CLEANUP(cleanup_fd) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0;
}

static bool is_fine(const char **command)
{
	union {
		const char **in;
		char *const *out;
	} argv = { command };
	struct job_spec spec = JOB_SPEC_INIT;
	struct job *job = NULL;
	bool has_ended;

	spec.argv = argv.out;
	spec.fds[1] = spec.fds[2] = JOB_FD_NULL;
	if (job_start(&job, &spec, NULL) < 0)
		return false;
	has_ended = job_wait(job, clock_mono_ns() + READY_USUAL_NS, NULL) == 0 && job_status(job) == 0;
	job_free(job);
	return has_ended;
}

static bool is_ready(const struct companion_spec *s)
{
	return (!s->port || is_listening(s->port)) && (!s->file || access(s->file, F_OK) == 0) &&
			(!s->check || is_fine(s->check));
}

static int wait_ready(struct job *job, const struct companion_spec *s, struct sonde_err *err)
{
	int64_t until_ns = clock_mono_ns() + (s->ready_timeout_ns ? s->ready_timeout_ns : READY_USUAL_NS);

	while (!is_ready(s)) {
		if (job_wait(job, clock_mono_ns() + PAUSE_NS, NULL) == 0)
			return err_set(err, ECHILD, "companion '%s' exited before it was ready", s->name);
		if (clock_mono_ns() > until_ns)
			return err_set(err, ETIMEDOUT, "companion '%s' was not ready in time", s->name);
	}
	return 0;
}

static int start(struct companion *b, const struct companion_spec *s, const char *cwd, int out, struct sonde_err *err)
{
	union {
		const char **in;
		char *const *out;
	} argv = { s->command };
	struct job_spec spec = JOB_SPEC_INIT;
	int rc;

	spec.argv = argv.out;
	spec.cwd = cwd;
	spec.fds[1] = out;
	rc = job_start(&b->jobs[b->count], &spec, err);
	if (rc < 0)
		err_prefix(err, "'%s'", s->name);
	else
		b->count++;
	return rc;
}

int companions_start(struct companion *b, const struct companion_spec *specs, size_t count, struct sonde_err *err)
{
	int rc = 0;

	*b = (struct companion){ .count = 0 };
	for (size_t i = 0; i < count && rc == 0; i++) {
		rc = start(b, &specs[i], NULL, STDERR_FILENO, err);
		if (rc == 0)
			rc = wait_ready(b->jobs[i], &specs[i], err);
	}
	if (rc < 0)
		companion_end(b);
	return rc;
}

void tools_dir(const struct companion *b, const struct companion_spec *s, struct buf *dir)
{
	buf_addf(dir, "%s/", b->dir);
	fs_safe_name(dir, s->name, 60);
}

/* Each tool has its own working directory, with its stdout in a file. A tool that wraps the application is not
 * started here and gets the directory only. */
static int start_tool(struct companion *b, const struct companion_spec *s, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf dir = BUF_INIT, path = BUF_INIT;
	int fd, rc;

	tools_dir(b, s, &dir);
	rc = fs_mkdir_p(dir.data, 0700, err);
	if (rc < 0 || s->tool_wrap)
		return rc;
	buf_addf(&path, "%s/stdout", dir.data);
	fd = open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, errno, "cannot create '%s'", path.data);
	rc = start(b, s, dir.data, fd, err);
	close(fd);
	return rc;
}

int tools_start(struct companion *b, const struct companion_spec *specs, size_t count, struct sonde_err *err)
{
	int rc = 0;

	*b = (struct companion){ .count = 0 };
	if (!count)
		return 0;
	rc = fs_temp_dir(b->dir, "sonde-tools", err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = start_tool(b, &specs[i], err);
	if (rc < 0) {
		companion_end(b);
		fs_remove_tree(AT_FDCWD, b->dir);
	}
	return rc;
}

void companion_end(struct companion *b)
{
	static const struct job_ladder ladder = JOB_LADDER_USUAL;

	while (b->count) {
		struct job *job = b->jobs[--b->count];

		job_end(job, &ladder, NULL);
		job_free(job);
	}
}

/* Uses cp, since the run may be on another file system and tools write whole directory trees. */
static int move(const char *from, const char *to, struct sonde_err *err)
{
	char copy[] = "cp", flags[] = "-a", *argv[] = { copy, flags, NULL, NULL, NULL };
	CLEANUP(cleanup_free) char *source = strdup(from);
	CLEANUP(cleanup_free) char *target = strdup(to);
	struct job_spec spec = JOB_SPEC_INIT;
	struct job *job = NULL;
	int rc;

	argv[2] = source;
	argv[3] = target;
	spec.argv = argv;
	spec.fds[1] = JOB_FD_NULL;
	rc = source && target ? job_start(&job, &spec, err) : err_sys(err, ENOMEM, "cannot copy tool output");
	if (rc == 0)
		rc = job_wait(job, INT64_MAX, err);
	if (rc == 0 && job_status(job) != 0)
		rc = err_set(err, EIO, "cannot copy tool output to '%s'", to);
	job_free(job);
	return rc;
}

void tools_drop(struct companion *b)
{
	if (*b->dir)
		fs_remove_tree(AT_FDCWD, b->dir);
	b->dir[0] = '\0';
}

int tools_collect(struct companion *b, const char *run, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf to = BUF_INIT;
	int rc;

	if (!*b->dir)
		return 0;
	buf_addf(&to, "%s/tools", run);
	rc = move(b->dir, to.data, err);
	tools_drop(b);
	return rc;
}

#define TOOL_WORD "{tool}"

char *tool_wrap_replace(const char *word, const char *name, const char *text, struct arena *arena)
{
	const char *at = text ? strstr(word, name) : NULL;

	if (!at)
		return arena_strdup(arena, word);
	return arena_printf(arena, "%.*s%s%s", (int)(at - word), word, text, at + strlen(name));
}

static int nomem(struct sonde_err *err)
{
	return err_sys(err, ENOMEM, "cannot prepare the session");
}

struct counts {
	size_t words, variables;
};

static int wrap_in(struct tool_wrap *w, struct counts *n, const struct companion_spec *tool, const char *dir,
		struct arena *arena, struct sonde_err *err)
{
	for (const char **word = tool->tool_wrap; word && *word; word++)
		if (!(w->argv[n->words++] = tool_wrap_replace(*word, TOOL_WORD, dir, arena)))
			return nomem(err);
	for (const char **env = tool->env; env && *env; env++) {
		if (n->variables == RECORD_ENV_MAX)
			return err_set(err, E2BIG, "the tool '%s' has too many variables", tool->name);
		if (!(w->env[n->variables++] = tool_wrap_replace(*env, TOOL_WORD, dir, arena)))
			return nomem(err);
	}
	return tool->tool_wrap ? launch_check(tool->tool_wrap[0], err) : 0;
}

size_t tool_wrap_count(const char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

int tool_wrap_apply(struct tool_wrap *w, const struct session_spec *s, const struct companion *tools, char *const *argv,
		const char *const *env, struct arena *arena, struct sonde_err *err)
{
	size_t words = tool_wrap_count((const char *const *)argv) + 1;
	struct counts n = { 0, tool_wrap_count(env) };
	int rc = 0;

	for (size_t i = 0; i < s->tool_count; i++)
		words += tool_wrap_count(s->tools[i].tool_wrap);
	*w = (struct tool_wrap){ .argv = arena_alloc(arena, words * sizeof(*w->argv)) };
	if (!w->argv)
		return nomem(err);
	memcpy(w->env, env, n.variables * sizeof(*env));
	for (size_t i = 0; i < s->tool_count && rc == 0; i++) {
		CLEANUP(buf_release) struct buf dir = BUF_INIT;

		tools_dir(tools, &s->tools[i], &dir);
		rc = wrap_in(w, &n, &s->tools[i], dir.data, arena, err);
	}
	for (; *argv && rc == 0; argv++)
		w->argv[n.words++] = *argv;
	return rc;
}

/* Companions, tools and probes of session files. */

static int parse_ready(struct config_reader *r, yaml_node_t *map, void *into)
{
	static const struct config_key keys[] = {
		{ "port", CONFIG_WHOLE, offsetof(struct companion_spec, port), .min = 1 },
		{ "file", CONFIG_TEXT, offsetof(struct companion_spec, file) },
		{ "command", CONFIG_LIST, offsetof(struct companion_spec, check) },
		{ "timeout", CONFIG_DURATION, offsetof(struct companion_spec, ready_timeout_ns) },
		{ NULL },
	};
	int rc = config_take_map(r, map, keys, "ready", into);

	return rc == 0 && ((struct companion_spec *)into)->port > 65535
			? config_error(r, map, "'port' must be at most 65535")
			: rc;
}

static bool has_words(const char **words)
{
	return words && words[0];
}

static int take_companion(struct config_reader *r, yaml_node_t *item, struct companion_spec *to)
{
	static const struct config_key keys[] = {
		{ "name", CONFIG_TEXT, offsetof(struct companion_spec, name) },
		{ "command", CONFIG_LIST, offsetof(struct companion_spec, command) },
		{ "ready", CONFIG_OTHER, 0, .take = parse_ready },
		{ NULL },
	};
	int rc = config_take_map(r, item, keys, "a companion", to);

	if (rc == 0 && !has_words(to->command))
		return config_error(r, item, "a companion needs a 'command'");
	return rc;
}

/* Tools that are known by name: they run alongside the application, or wrap it. */
static const struct tool_row {
	const char *name;
	const char *command[8], *tool_wrap[8], *env[3];
} tool_rows[] = {
	{ "tegrastats", .command = { "tegrastats", "--interval", "1000", "--logfile", "tegrastats.log" } },
	{ "nsys", .tool_wrap = { "nsys", "profile", "--force-overwrite", "true", "--output", "{tool}/report" } },
	{ "tau", .tool_wrap = { "tau_exec", "-ebs" }, .env = { "PROFILEDIR={tool}", "TRACEDIR={tool}" } },
};
#define TOOL_ROWS (sizeof(tool_rows) / sizeof(tool_rows[0]))

static const char **copy_words(struct config_reader *r, const char *const *words)
{
	size_t n = 0;
	const char **out;

	while (words[n])
		n++;
	out = n ? arena_alloc(r->arena, (n + 1) * sizeof(*out)) : NULL;
	for (size_t i = 0; out && i <= n; i++)
		out[i] = words[i];
	return out;
}

static int parse_known_tool(struct config_reader *r, const yaml_node_t *item, struct companion_spec *to)
{
	const char *names[TOOL_ROWS + 1] = { NULL }, *nearest;

	for (size_t i = 0; i < TOOL_ROWS; i++) {
		names[i] = tool_rows[i].name;
		if (strcmp(names[i], config_text(item)) != 0)
			continue;
		*to = (struct companion_spec){ .name = names[i],
			.command = copy_words(r, tool_rows[i].command),
			.tool_wrap = copy_words(r, tool_rows[i].tool_wrap),
			.env = copy_words(r, tool_rows[i].env) };
		return 0;
	}
	config_error(r, item,
			"unknown tool '%s': set its 'command', or 'around' to wrap "
			"the application",
			config_text(item));
	nearest = words_nearest(config_text(item), names);
	if (nearest)
		err_hint(r->err, "did you mean '%s'?", nearest);
	return -EINVAL;
}

static int parse_tool(struct config_reader *r, yaml_node_t *item, struct companion_spec *to)
{
	static const struct config_key keys[] = {
		{ "name", CONFIG_TEXT, offsetof(struct companion_spec, name) },
		{ "command", CONFIG_LIST, offsetof(struct companion_spec, command) },
		{ "around", CONFIG_LIST, offsetof(struct companion_spec, tool_wrap) },
		{ "env", CONFIG_LIST, offsetof(struct companion_spec, env) },
		{ NULL },
	};
	int rc = config_text(item) ? parse_known_tool(r, item, to) : config_take_map(r, item, keys, "a tool", to);

	if (rc == 0 && has_words(to->command) == has_words(to->tool_wrap))
		return config_error(r, item, "a tool needs either 'command' or 'around'");
	for (const char **env = to->env; rc == 0 && env && *env; env++)
		if (!strchr(*env, '='))
			rc = config_error(r, item, "invalid variable '%s' in 'env' of a tool (expected NAME=value)",
					*env);
	return rc;
}

static int parse_companion(struct config_reader *r, yaml_node_t *list, const char *what, struct companion_spec *all,
		size_t *count, int (*take)(struct config_reader *, yaml_node_t *, struct companion_spec *))
{
	yaml_node_t *item;

	if (list->type != YAML_SEQUENCE_NODE)
		return config_error(r, list, "'%s' must be a list", what);
	for (size_t i = 0; (item = config_item(r, list, i)); i++) {
		int rc = i < COMPANIONS_MAX
				? take(r, item, &all[i])
				: config_error(r, item, "too many %2$s (maximum %1$d)", COMPANIONS_MAX, what);

		if (rc < 0)
			return rc;
		if (!all[i].name)
			all[i].name = has_words(all[i].command) ? all[i].command[0] : all[i].tool_wrap[0];
		*count = i + 1;
	}
	return 0;
}

int spec_parse_companions(struct config_reader *r, yaml_node_t *list, void *into)
{
	struct session_spec *s = into;

	return parse_companion(r, list, "companions", s->companions, &s->companion_count, take_companion);
}

int spec_parse_tools(struct config_reader *r, yaml_node_t *list, void *into)
{
	struct session_spec *s = into;

	return parse_companion(r, list, "tools", s->tools, &s->tool_count, parse_tool);
}

static const char *probe_word(const char *text)
{
	for (size_t i = 0; probe_words[i]; i++)
		if (strcmp(probe_words[i], text) == 0 && strcmp(text, "none") != 0)
			return probe_words[i];
	return NULL;
}

/* In addition to those that a profile needs. */
int spec_parse_probes(struct config_reader *r, yaml_node_t *list, void *into)
{
	struct session_spec *s = into;
	size_t n = 0;
	yaml_node_t *item;

	while (s->probes[n])
		n++;
	if (list->type != YAML_SEQUENCE_NODE)
		return config_error(r, list, "'probes' must be a list");
	for (size_t i = 0; (item = config_item(r, list, i)); i++) {
		const char *word = config_text(item) ? probe_word(config_text(item)) : NULL, *nearest;

		if (!word) {
			config_error(r, item, "unknown probe '%s'", config_text(item) ? config_text(item) : "?");
			nearest = config_text(item) ? words_nearest(config_text(item), probe_words) : NULL;
			if (nearest)
				err_hint(r->err, "did you mean '%s'?", nearest);
			return -EINVAL;
		}
		if (n == SESSION_PROBES_MAX)
			return config_error(r, item, "too many probes (maximum %d)", SESSION_PROBES_MAX);
		s->probes[n++] = word;
	}
	return 0;
}

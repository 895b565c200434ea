#include "launch/container-isolation.h"

#include "base/cleanup.h"
#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)1 << 20)

static void push(struct words *w, char *word)
{
	if (w->count + 1 >= w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 32;
		char **items = reallocarray(w->items, cap, sizeof(*items));
		if (!items) {
			free(word);
			w->is_failed = true;
			return;
		}
		w->items = items;
		w->cap = cap;
	}
	w->is_failed |= !word;
	w->items[w->count] = word;
	w->count += word != NULL;
	w->items[w->count] = NULL;
}

void words_add(struct words *w, const char *word)
{
	push(w, strdup(word));
}

void words_addf(struct words *w, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	w->is_failed |= buf_error(&text) != 0;
	push(w, buf_take(&text));
}

int words_done(struct words *w)
{
	return w->is_failed || !w->count ? -ENOMEM : 0;
}

void words_release(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i]);
	free(w->items);
	*w = (struct words){ 0 };
}

void engine_add(struct words *w, const char *engine)
{
	if (!strchr(engine, ' ') || !launch_check(engine, NULL)) {
		words_add(w, engine);
		return;
	}
	for (size_t n; *(engine += strspn(engine, " ")); engine += n) {
		n = strcspn(engine, " ");
		words_addf(w, "%.*s", (int)n, engine);
	}
}

static bool is_there(const char *engine)
{
	CLEANUP(words_release) struct words w = { 0 };
	engine_add(&w, engine);
	return !words_done(&w) && !launch_check(w.items[0], NULL);
}

int engine_find(char **path, const char *asked, struct sonde_err *err)
{
	static const char *const known[] = { "podman", "docker" };
	const char *found = asked;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !found; i++)
		if (is_there(known[i]))
			found = known[i];
	if (!found || !is_there(found)) {
		int rc = err_set(err, ENOTSUP, "container engine '%s' not found", asked ? asked : "podman");
		err_hint(err, "install podman or docker");
		return rc;
	}
	*path = strdup(found);
	return *path ? 0 : err_sys(err, ENOMEM, "cannot use '%s'", found);
}

/* Reads both streams into one buffer, until all writers have closed them. */
static void gather(int fd, struct buf *out)
{
	char block[4096];
	for (;;) {
		ssize_t n = read(fd, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		if (out->len < OUTPUT_MAX)
			buf_add(out, block, (size_t)n);
	}
}

#define SAID_BYTES 300 /* of an engine's error text, which may repeat its arguments and states the cause last */

/* The last line is the error, without its prefix "Error: "; the lines before it are warnings. */
static const char *last_line(struct buf *text)
{
	while (text->len && text->data[text->len - 1] == '\n')
		text->data[--text->len] = '\0';
	const char *line = strrchr(text->data, '\n');
	line = line ? line + 1 : text->data;
	if (strlen(line) > SAID_BYTES)
		return line + strlen(line) - SAID_BYTES;
	return strncmp(line, "Error: ", 7) ? line : line + 7;
}

static int start(struct job **j, const struct words *argv, int ends_out[2], int ends_err[2], struct sonde_err *err)
{
	struct job_spec spec = JOB_SPEC_INIT;
	spec.argv = argv->items;
	spec.fds[1] = ends_out[1];
	spec.fds[2] = ends_err[1];
	int rc = job_start(j, &spec, err);
	close(ends_out[1]);
	close(ends_err[1]);
	return rc == -ENOENT || rc == -EACCES ? -ENOTSUP : rc;
}

int engine_run(const struct words *argv, struct buf *out, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf said = BUF_INIT;
	CLEANUP(buf_release) struct buf dropped = BUF_INIT;
	int ends_out[2], ends_err[2];
	struct job *j = NULL;
	if (pipe2(ends_out, O_CLOEXEC))
		return err_sys(err, errno, "cannot create a pipe");
	if (pipe2(ends_err, O_CLOEXEC)) {
		close(ends_out[0]);
		close(ends_out[1]);
		return err_sys(err, errno, "cannot create a pipe");
	}
	int rc = start(&j, argv, ends_out, ends_err, err);
	if (!rc) {
		gather(ends_out[0], out ? out : &dropped);
		gather(ends_err[0], &said); /* its error text fits into a pipe */
		rc = job_wait(j, INT64_MAX, err);
	}
	close(ends_out[0]);
	close(ends_err[0]);
	if (!rc && job_status(j))
		rc = err_set(err, EIO, "'%s %s' failed: %s", argv->items[0], argv->items[1], last_line(&said));
	job_free(j);
	return rc;
}

/* Kept containers get a different prefix, because the usual one marks leftovers of a dead sonde for removal. */
void engine_name(char *out, size_t size, bool is_kept)
{
	static atomic_uint count;
	snprintf(out, size, "sonde-%s%d-%u", is_kept ? "kept-" : "", (int)getpid(), atomic_fetch_add(&count, 1));
}

/* Only variables to set: a variable to remove was never in an image's environment. */
void engine_add_env(struct words *w, const char *const *env)
{
	for (size_t i = 0; env && env[i]; i++)
		if (strchr(env[i], '='))
			words_addf(w, "--env=%s", env[i]);
}

void engine_add_place(struct words *w, const struct job_isolation *place, const struct job_spec *spec,
		const struct mount_dir *mounts)
{
	/* Limits. */
	if (place->limits.cpus > 0)
		words_addf(w, "--cpus=%.3f", place->limits.cpus);
	if (place->limits.cpu_weight)
		words_addf(w, "--cpu-shares=%llu", (unsigned long long)place->limits.cpu_weight * 1024 / 100);
	if (place->limits.memory_bytes) {
		words_addf(w, "--memory=%llu", (unsigned long long)place->limits.memory_bytes);
		words_addf(w, "--memory-swap=%llu", (unsigned long long)place->limits.memory_bytes);
	}
	if (place->limits.pids)
		words_addf(w, "--pids-limit=%llu", (unsigned long long)place->limits.pids);
	if (spec->cpus) {
		CLEANUP(buf_release) struct buf list = BUF_INIT;
		for (int i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, spec->cpus))
				buf_addf(&list, "%s%d", list.len ? "," : "", i);
		words_addf(w, "--cpuset-cpus=%s", list.data);
	}
	for (size_t i = 0; i < place->mount_count; i++) {
		const struct job_mount *m = &place->mounts[i];
		char source[PATH_MAX];
		mount_dir_source(mounts, m, i, source, sizeof(source));
		words_addf(w, "--volume=%s:%s%s", source, m->target, m->is_read_only ? ":ro" : "");
	}
	engine_add_env(w, spec->env);
	if (spec->cwd)
		words_addf(w, "--workdir=%s", spec->cwd);
	for (size_t i = 0; place->engine_args && place->engine_args[i]; i++)
		words_add(w, place->engine_args[i]);
}

bool engine_is_podman(const char *engine)
{
	CLEANUP(words_release) struct words w = { 0 };
	bool is = false;
	engine_add(&w, engine);
	for (size_t i = 0; i < w.count && !is; i++) {
		const char *slash = strrchr(w.items[i], '/');
		is = !strcmp(slash ? slash + 1 : w.items[i], "podman");
	}
	return is;
}

/* podman installed as docker does not support this query. */
bool engine_is_elsewhere(const char *engine)
{
	CLEANUP(words_release) struct words w = { 0 };
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	engine_add(&w, engine);
	words_add(&w, "context");
	words_add(&w, "inspect");
	words_add(&w, "--format={{.Endpoints.docker.Host}}");
	return !words_done(&w) && !engine_run(&w, &out, NULL) && out.len > 1 && strncmp(out.data, "unix://", 7) != 0;
}

void engine_kill(const char *engine, const char *name)
{
	CLEANUP(words_release) struct words w = { 0 };
	engine_add(&w, engine);
	words_add(&w, "kill");
	words_add(&w, "--signal=KILL");
	words_add(&w, name);
	if (!words_done(&w))
		engine_run(&w, NULL, NULL); /* it may have exited */
}

int engine_remove(const char *engine, const char *name, struct sonde_err *err)
{
	CLEANUP(words_release) struct words w = { 0 };
	static const char *const podman[] = { "rm", "--force", "--time=0", "--ignore", "--volumes", NULL };
	static const char *const docker[] = { "rm", "--force", "--volumes", NULL };
	/* podman may be installed as docker; its `rm` waits ten seconds after SIGTERM where docker's kills. */
	if (!engine_is_podman(engine))
		engine_kill(engine, name);
	engine_add(&w, engine);
	for (const char *const *word = engine_is_podman(engine) ? podman : docker; *word; word++)
		words_add(&w, *word);
	words_add(&w, name);
	int rc = words_done(&w);
	return rc ? err_sys(err, -rc, "cannot remove a container") : engine_run(&w, NULL, err);
}

/* Queries a field of the container's state from the engine. */
static int query_state(const char *engine, const char *name, const char *what, struct buf *out)
{
	CLEANUP(words_release) struct words w = { 0 };
	engine_add(&w, engine);
	words_add(&w, "inspect");
	words_add(&w, "--type=container");
	words_addf(&w, "--format={{.State.%s}}", what);
	words_add(&w, name);
	int rc = words_done(&w);
	return rc ? rc : engine_run(&w, out, NULL);
}

pid_t engine_pid(const char *engine, const char *name)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	if (query_state(engine, name, "Pid", &out))
		return 0;
	long pid = strtol(out.data, NULL, 10);
	return pid > 0 ? (pid_t)pid : 0;
}

int engine_was_oom(const char *engine, const char *name)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int rc = query_state(engine, name, "OOMKilled", &out);
	return rc ? rc : !strncmp(out.data, "true", 4);
}

/* The value of --entrypoint in the arguments of `run`; NULL if missing. */
static const char *asked_entrypoint(const struct job_isolation *place)
{
	static const char option[] = "--entrypoint";
	const char *found = NULL;
	for (size_t i = 0; place->engine_args && place->engine_args[i]; i++) {
		const char *word = place->engine_args[i];
		if (strncmp(word, option, sizeof(option) - 1) != 0)
			continue;
		if (word[sizeof(option) - 1] == '=')
			found = word + sizeof(option);
		else if (!word[sizeof(option) - 1] && place->engine_args[i + 1])
			found = place->engine_args[i + 1];
	}
	return found;
}

static int query_image(const char *engine, const char *image, struct buf *out)
{
	CLEANUP(words_release) struct words w = { 0 };
	engine_add(&w, engine);
	words_add(&w, "image");
	words_add(&w, "inspect");
	words_add(&w, "--format={{range .Config.Entrypoint}}{{.}}{{\"\\x00\"}}{{end}}");
	words_add(&w, image);
	int rc = words_done(&w);
	return rc ? rc : engine_run(&w, out, NULL);
}

/* Pulls the image if it is missing, as `run` would. */
static int fetch(const char *engine, const char *image)
{
	CLEANUP(words_release) struct words w = { 0 };
	engine_add(&w, engine);
	words_add(&w, "pull");
	words_add(&w, "--quiet");
	words_add(&w, image);
	int rc = words_done(&w);
	return rc ? rc : engine_run(&w, NULL, NULL);
}

int engine_add_entrypoint(struct words *w, const char *engine, const struct job_isolation *place)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *asked = asked_entrypoint(place);
	if (asked && *asked)
		words_add(w, asked);
	if (asked)
		return 0;
	int rc = query_image(engine, place->image, &out);
	if (rc && !fetch(engine, place->image)) {
		buf_reset(&out);
		rc = query_image(engine, place->image, &out);
	}
	for (size_t at = 0; !rc && at < out.len && out.data[at] != '\n'; at += strlen(out.data + at) + 1)
		words_add(w, out.data + at);
	return rc;
}

/* A job that runs in a container with the same lifetime. */
#include "launch/container-isolation.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "launch/cgroup.h"
#include "launch/process-tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LOOK_NS 50000000
#define ID_DIGITS 64
#define TEXT_MAX ((size_t)1 << 20)
#define START_LIMIT_NS 60000000000
#define START_PAUSE_MS 10
#define OOM_FILE "oom"
#define HOLD_INSIDE "/.sonde-hold"
#define START_BARRIER_INSIDE "/.sonde-gate"
#define ASK_NS \
	1000000000 /* between queries of the engine, which cost more than its client: a daemon starts processes too */

/* The start barrier. */

/* Whether it was opened or not */
static void start_barrier_release(struct start_barrier *g)
{
	if (!g->is_made)
		return;
	/* The waiting process continues. */
	if (g->waiting >= 0)
		close(g->waiting);
	g->waiting = -1;
	if (g->listening >= 0)
		close(g->listening); /* a later connect is refused, and that process does not wait */
	unlink(g->path);
	rmdir(g->dir);
	*g = (struct start_barrier)START_BARRIER_INIT;
}

/* Socket paths must be short, and that of the directory may be long: bind by /proc/self/fd. */
static int bind_in(const struct start_barrier *g)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	CLEANUP(cleanup_fd) int dir = open(g->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/gate", dir);
	return bind(g->listening, (const struct sockaddr *)&at, sizeof(at));
}

/* The container's user may be any, so the socket is open to all; its directory is not. */
static int start_barrier_init(struct start_barrier *g)
{
	*g = (struct start_barrier)START_BARRIER_INIT;
	int rc = fs_temp_dir(g->dir, "sonde-gate", NULL);
	if (rc)
		return rc;
	g->is_made = true;
	snprintf(g->path, sizeof(g->path), "%s/gate", g->dir);
	g->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (g->listening < 0 || bind_in(g) || listen(g->listening, 1) || chmod(g->path, 0666)) {
		int error = errno;
		start_barrier_release(g);
		return -error;
	}
	return 0;
}

/* Pid of the waiting process (0: not visible in our pid namespace); -1: none waits yet. */
static pid_t start_barrier_poll(struct start_barrier *g)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);
	if (g->waiting < 0)
		g->waiting = accept4(g->listening, NULL, NULL, SOCK_CLOEXEC);
	if (g->waiting < 0)
		return -1;
	return getsockopt(g->waiting, SOL_SOCKET, SO_PEERCRED, &who, &bytes) ? 0 : who.pid;
}

/*
 * Resource usage of a container, read from its cgroup.
 *
 * The engine removes the cgroup when the command exits, and the rusage of the engine's own processes is not
 * separable from the command's. So the cgroup is polled while it exists, and the last reading is reported. An OOM
 * kill happens too late for that; the engine is queried for it.
 */

static bool read_map(struct cgroup_map *m, pid_t pid, const char *mounts)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	if (fs_read_file(AT_FDCWD, path, TEXT_MAX, &own, NULL))
		return false;
	cgroup_map_parse(m, mounts, own.data);
	return true;
}

/*
 * Engines put the container's id into the cgroup path. Before its start and after its end a process is in another
 * cgroup.
 */
static bool is_container(const char *dir)
{
	size_t run = 0;
	for (; *dir && run < ID_DIGITS; dir++)
		run = strchr("0123456789abcdef", *dir) ? run + 1 : 0;
	return run == ID_DIGITS;
}

/* Usage of a container with the lifetime of the job. */
static void container_poll(struct job *j)
{
	struct contained *c = j->place;
	CLEANUP(buf_release) struct buf mounts = BUF_INIT;
	struct cgroup_map its;
	struct cgroup_leaf leaf;
	int64_t now_ns = clock_mono_ns();
	if (!j->pid || now_ns < c->looked_ns + LOOK_NS)
		return;
	c->looked_ns = now_ns;
	if (fs_read_file(AT_FDCWD, "/proc/self/mountinfo", TEXT_MAX, &mounts, NULL) ||
			!read_map(&its, j->pid, mounts.data))
		return;
	/* Its cgroups; a controller without one of its own counts in the unified hierarchy. */
	leaf = (struct cgroup_leaf){ .v2_fd = -1 };
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		if (is_container(its.base[i])) {
			leaf.dir[i] = its.base[i];
			leaf.is_v2[i] = its.is_v2[i];
		}
	if (!*its.base[CGROUP_MEMORY] && leaf.dir[CGROUP_CORE]) {
		leaf.dir[CGROUP_MEMORY] = leaf.dir[CGROUP_CORE];
		leaf.is_v2[CGROUP_MEMORY] = true;
	}
	cgroup_leaf_usage(&leaf, &c->seen);
}

static void container_seen(const struct job *j, struct job_usage *usage)
{
	struct contained *c = j->place;
	/* The cgroup is gone by now, so the engine is queried for an OOM kill. */
	if (j->has_ended && c->is_limited) {
		c->is_limited = false; /* query once */
		int was_oom = engine_was_oom(c->engine, c->name);
		if (was_oom >= 0 && c->seen.oom_kills < was_oom)
			c->seen.oom_kills = was_oom;
	}
	usage->user_ns = c->seen.user_ns;
	usage->system_ns = c->seen.system_ns;
	usage->max_rss_bytes = c->seen.max_rss_bytes;
	usage->oom_kills = c->seen.oom_kills;
}

/* Jobs. */

static int check(const struct job_isolation *place, struct sonde_err *err)
{
	char *engine = NULL;
	int rc = place->image ? engine_find(&engine, place->engine, err)
			      : err_set(err, EINVAL, "a container needs an image");
	free(engine);
	return rc;
}

/* The engine's client gets our environment and directory; those of the spec apply to the command. */
int container_use_client(struct job *j, struct supervisor_plan *plan, struct words *argv, struct sonde_err *err)
{
	char **envp = environment_with(NULL);
	if (!envp || words_done(argv)) {
		free(envp);
		return err_sys(err, ENOMEM, "cannot start a container");
	}
	free(j->envp);
	j->is_client = true;
	j->envp = envp;
	plan->envp = envp;
	plan->argv = argv->items;
	plan->cwd = NULL;
	plan->cpus = NULL;
	return 0;
}

/*
 * The program of a daemon's container is not our descendant and would run before it can be observed. So sonde-hold
 * runs first. podman has no daemon, unless it is installed under another name.
 */
static void add_hold(struct contained *c, const struct job_spec *spec)
{
	CLEANUP(words_release) struct words before = { 0 };
	if (!spec->place->hold || !spec->met || engine_is_podman(c->engine) || engine_is_elsewhere(c->engine) ||
			engine_add_entrypoint(&before, c->engine, spec->place) ||
			start_barrier_init(&c->start_barrier)) {
		words_add(&c->argv, spec->place->image);
		return;
	}
	words_addf(&c->argv, "--volume=%s:" HOLD_INSIDE ":ro", spec->place->hold);
	words_addf(&c->argv, "--volume=%s:" START_BARRIER_INSIDE, c->start_barrier.path);
	words_add(&c->argv, "--entrypoint=" HOLD_INSIDE);
	words_add(&c->argv, spec->place->image);
	words_add(&c->argv, START_BARRIER_INSIDE);
	for (size_t i = 0; i < before.count; i++)
		words_add(&c->argv, before.items[i]);
}

static int prepare(struct job *j, const struct job_spec *spec, struct supervisor_plan *plan, struct sonde_err *err)
{
	struct contained *c = calloc(1, sizeof(*c));
	if (!c)
		return err_sys(err, ENOMEM, "cannot start a container");
	j->place = c;
	c->seen = (struct job_usage){ -1, -1, -1, -1, -1 };
	c->start_barrier = (struct start_barrier)START_BARRIER_INIT;
	c->mounts = (struct mount_dir)MOUNT_DIR_INIT;
	c->has_no_oom_file = access(OOM_FILE, F_OK) != 0;
	if (spec->inherit_count)
		return err_set(err, ENOTSUP, "a container can have only the descriptors stdin, stdout and stderr");
	int rc = engine_find(&c->engine, spec->place->engine, err);
	if (!rc) {
		mount_dir_sweep();
		rc = mount_dir_make(&c->mounts, spec->place->mounts, spec->place->mount_count, err);
	}
	if (rc)
		return rc;
	c->is_kept = spec->place->is_kept;
	c->is_limited = spec->place->limits.memory_bytes > 0;
	engine_name(c->name, sizeof(c->name), c->is_kept);
	/* The command line of the engine. */
	struct words *w = &c->argv;
	engine_add(w, c->engine);
	words_add(w, "run");
	if (!c->is_kept && !c->is_limited)
		words_add(w, "--rm"); /* otherwise `release` removes it, after a query */
	words_addf(w, "--name=%s", c->name);
	if (spec->fds[0] != JOB_FD_NULL)
		words_add(w, "--interactive");
	engine_add_place(w, spec->place, spec, &c->mounts);
	add_hold(c, spec);
	for (size_t i = 0; spec->argv[i]; i++)
		words_add(w, spec->argv[i]);
	return container_use_client(j, plan, &c->argv, err);
}

static bool is_inside(pid_t pid)
{
	char path[64];
	struct stat theirs, ours;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return !stat(path, &theirs) && !stat("/proc/self/ns/pid", &ours) && theirs.st_ino != ours.st_ino;
}

/* The first process waits, so that observers can attach now. Without a daemon they have attached already. */
static bool pass_start_barrier(struct job *j)
{
	struct contained *c = j->place;
	pid_t pid = start_barrier_poll(&c->start_barrier);
	if (pid < 0)
		return false;
	pid_t own = tree_find(j->supervisor, is_inside);
	if (!own && pid && j->met)
		j->met(j->meanwhile_arg, pid);
	j->pid = own ? own : pid;
	start_barrier_release(&c->start_barrier);
	return true;
}

/*
 * Queries the engine at intervals. A process that runs but has not reached the start barrier by the next query
 * cannot reach it (a policy forbids it, or it runs in a virtual machine) and has executed the program: do not wait
 * for it.
 */
static pid_t query_engine(struct contained *c, int64_t *ask_ns)
{
	if (clock_mono_ns() < *ask_ns)
		return 0;
	pid_t pid = engine_pid(c->engine, c->name);
	*ask_ns = clock_mono_ns() + ASK_NS;
	bool is_on_its_way = pid && c->start_barrier.is_made && !c->was_running;
	c->was_running = pid != 0;
	return is_on_its_way ? 0 : pid;
}

/* Waits until the engine reports it as running, or its client has exited: a short command may finish first. */
static int started(struct job *j, struct sonde_err *err)
{
	struct contained *c = j->place;
	struct pollfd interrupt = { .fd = j->interrupt_fd > 0 ? j->interrupt_fd : -1, .events = POLLIN };
	int64_t until_ns = clock_mono_ns() + START_LIMIT_NS;
	j->pid = 0;
	j->inner_pid = 1;
	int64_t ask_ns = clock_mono_ns() + ASK_NS;
	while (!job_has_ended(j)) {
		if (c->start_barrier.is_made && pass_start_barrier(j)) {
			mount_dir_release(&c->mounts);
			return 0;
		}
		j->pid = c->start_barrier.is_made ? 0 : tree_find(j->supervisor, is_inside);
		j->pid = j->pid ? j->pid : query_engine(c, &ask_ns);
		if (j->pid && (!c->mounts.path[0] || mount_dir_is_passed(&c->mounts, j->pid))) {
			start_barrier_release(&c->start_barrier);
			mount_dir_release(&c->mounts); /* before we can be killed: the mounts in the container remain */
			return 0;
		}
		if (j->meanwhile)
			j->meanwhile(j->meanwhile_arg);
		if (clock_mono_ns() > until_ns)
			return err_set(err, ETIMEDOUT, "the container '%s' does not start", c->name);
		if (poll(&interrupt, 1, START_PAUSE_MS) > 0)
			return err_set(err, EINTR, "interrupted");
	}
	return 0;
}

/* Skips the engine's own processes, which would forward the signal again. */
int container_signal(struct job *j, int signal, struct sonde_err *err)
{
	return tree_signal_those(j->supervisor, false, signal, is_inside, err);
}

static int signal_run(struct job *j, int signal, struct sonde_err *err)
{
	const struct contained *c = j->place;
	if (tree_find(j->supervisor, is_inside))
		return container_signal(j, signal, err);
	CLEANUP(words_release) struct words w = { 0 }; /* its processes are children of the engine's daemon */
	engine_add(&w, c->engine);
	words_add(&w, "kill");
	words_addf(&w, "--signal=%d", signal);
	words_add(&w, c->name);
	if (words_done(&w))
		return err_sys(err, ENOMEM, "cannot signal a container");
	return job_has_ended(j) ? 0 : engine_run(&w, NULL, err);
}

/* Removes or stops the container; none of its processes remains. */
static int put_away(const struct contained *c, struct sonde_err *err)
{
	if (!c->is_kept)
		return engine_remove(c->engine, c->name, err);
	engine_kill(c->engine, c->name);
	return 0;
}

static void remove_now(struct job *j)
{
	put_away(j->place, NULL);
}

/* The supervisor reaps only the engine's client, so its rusage does not cover the command. */
void container_usage(const struct job *j, struct job_usage *usage)
{
	(void)j;
	usage->user_ns = usage->system_ns = usage->max_rss_bytes = -1;
}

static int release(struct job *j, struct sonde_err *err)
{
	struct contained *c = j->place;
	int rc = c && c->engine && j->supervisor ? put_away(c, err) : 0;
	if (c) {
		/*
		 * podman's monitor records an OOM kill as an empty file in the directory where podman was started,
		 * which is the user's directory. Remove the file if it did not exist before.
		 */
		struct stat st;
		if (c->has_no_oom_file && !lstat(OOM_FILE, &st) && S_ISREG(st.st_mode) && !st.st_size &&
				st.st_uid == geteuid())
			unlink(OOM_FILE);
		start_barrier_release(&c->start_barrier);
		mount_dir_release(&c->mounts);
		words_release(&c->argv);
		free(c->engine);
	}
	free(c);
	j->place = NULL;
	return rc;
}

const struct isolation_ops isolation_container = {
	.check = check,
	.prepare = prepare,
	.started = started,
	.signal = signal_run,
	.kill = remove_now,
	.look = container_poll,
	.usage = container_seen,
	.release = release,
};

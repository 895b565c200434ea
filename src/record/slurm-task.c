/*
 * Tasks of srun that record themselves; see slurm-task.h. The first task has a companion process.
 */
#include "record/slurm-task.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "launch/spawn-command.h"
#include "record/hosts-private.h"
#include "record/ringdir.h"
#include "store/run-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STEP_TASK_FILE ".task-%u"
#define TASK_FILE_BYTES_MAX 512
#define STRAY_NS 60000000000 /* for tasks that cannot be queried, after the first has finished */
#define KILLED_CODE 137
#define MEET_NS 60000000000 /* for the first task to publish the run directory */
#define MEET_PAUSE_NS 50000000
#define FAILED_S 2
#define WITHIN "SONDE_STEP" /* in the environment of the command of a step's task */
#define FAILED '!'          /* first character of a link that holds an error message */

/*
 * Companion process of a step's first task: measures the clocks of the other nodes, waits for the other tasks, and
 * merges their runs.
 *
 * A task that has finished writes its status file. A killed task cannot, so a process on every node is queried whether
 * it is alive. Dead tasks are not waited for.
 */

extern char **environ;

struct part { /* a task */
	bool is_known, has_ended;
	char node[256], name[300];
	unsigned local;
	pid_t pid;
};

struct joining {
	const struct record_step *s;
	struct hosts hosts; /* one entry per task */
	struct part *parts;
	int64_t over_ns; /* when the first task finished; 0: it runs */
};

/* The name of a task's run below hosts/. */
static void step_add_place(struct buf *out, unsigned task, const char *node)
{
	buf_addf(out, "%u-", task);
	fs_safe_name(out, node, 64);
}

/* Tasks on the same node share a connection. */
static void meet(struct joining *g, size_t i)
{
	struct host *one = &g->hosts.all[i];
	struct part *p = &g->parts[i];
	p->is_known = true;
	snprintf(p->name, sizeof(p->name), p->local ? "%s.%u" : "%s", p->node, p->local);
	one->name = p->name;
	one->node = p->node;
	one->is_here = !strcmp(p->node, g->s->node);
	one->is_fetched = true;
	step_add_place(&one->place, (unsigned)i, p->node);
	for (size_t k = 0; k < g->hosts.count && !one->is_here && !one->link; k++)
		if (k != i && g->parts[k].is_known && !strcmp(g->parts[k].node, p->node))
			one->link = g->hosts.all[k].link;
	if (one->is_here || one->link)
		return;
	struct sonde_err why = SONDE_ERR_INIT;
	if (!hosts_open_link(&g->hosts, one, &why)) /* a broken one stays, and its clock is unknown */
		hostlink_ping(one->link, HOSTS_BURST);
}

static void look_at(struct joining *g, size_t i)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char name[64];
	int pid, status;
	struct part *p = &g->parts[i], read = *p;
	snprintf(name, sizeof(name), "hosts/" STEP_TASK_FILE, (unsigned)i);
	if (p->has_ended || fs_read_file(g->hosts.run.dirfd, name, TASK_FILE_BYTES_MAX, &text, NULL) ||
			sscanf(text.data, "%255s %u %d %d", read.node, &read.local, &pid, &status) != 4)
		return;
	if (!p->is_known) {
		*p = read;
		p->pid = pid;
		meet(g, i);
	}
	p->has_ended = status >= 0;
	g->hosts.all[i].status = p->has_ended ? status : 0;
}

/* True while it runs. Only tasks that can be queried are waited for without a limit. */
static bool is_running(struct joining *g, size_t i)
{
	struct part *p = &g->parts[i];
	struct host *one = &g->hosts.all[i];
	if (p->has_ended)
		return false;
	int lives = !p->is_known       ? -ENOENT
			: one->is_here ? !kill(p->pid, 0) || errno == EPERM
			: !one->link   ? -ENOMEM
				       : hostlink_lives(one->link, p->pid);
	look_at(g, i); /* its status may have arrived meanwhile */
	if (p->has_ended || (lives < 0 && clock_mono_ns() - g->over_ns < STRAY_NS))
		return !p->has_ended;
	if (lives > 0)
		return true;
	p->has_ended = true;
	one->status = KILLED_CODE;
	err_set(&one->why, ESRCH, lives ? "it has not reported its exit status" : "its recorder was killed");
	return false;
}

/* The first task owns a shared connection. */
static bool is_first_of(const struct joining *g, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (g->hosts.all[k].link == g->hosts.all[i].link)
			return false;
	return g->hosts.all[i].link != NULL;
}

static void ping_all(struct joining *g, unsigned times)
{
	for (size_t i = 0; i < g->hosts.count; i++)
		if (is_first_of(g, i))
			hostlink_ping(g->hosts.all[i].link, times);
}

static void watch(struct joining *g, int start_barrier)
{
	for (;;) {
		size_t running = 0;
		struct pollfd p = { .fd = g->over_ns ? -1 : start_barrier, .events = POLLIN };
		for (size_t i = 0; i < g->hosts.count; i++)
			look_at(g, i);
		for (size_t i = 0; i < g->hosts.count && g->over_ns; i++)
			running += is_running(g, i);
		if (g->over_ns && !running)
			break;
		ping_all(g, HOSTS_FEW);
		if (poll(&p, 1, g->over_ns ? 100 : HOSTS_PING_MS) > 0)
			g->over_ns = clock_mono_ns();
	}
	g->hosts.end_mono_ns = clock_mono_ns();
	ping_all(g, HOSTS_BURST);
}

/* srun would apply the variables of its own step to the next one. */
static void forget_step(void)
{
	static const char *const kept[] = { "SLURM_CONF=", "SLURM_JOB_ID=", "SLURM_JOBID=" };
	for (size_t i = 0; environ[i];) {
		bool is_kept = strncmp(environ[i], "SLURM_", 6) != 0;
		for (size_t k = 0; k < sizeof(kept) / sizeof(*kept); k++)
			is_kept |= !strncmp(environ[i], kept[k], strlen(kept[k]));
		char name[256];
		int n = snprintf(name, sizeof(name), "%.*s", (int)strcspn(environ[i], "="), environ[i]);
		if (is_kept || n <= 0 || (size_t)n >= sizeof(name) || unsetenv(name))
			i++;
	}
}

static int finish(struct joining *g)
{
	char name[64];
	for (size_t i = 0; i < g->hosts.count; i++) {
		snprintf(name, sizeof(name), "hosts/" STEP_TASK_FILE, (unsigned)i);
		unlinkat(g->hosts.run.dirfd, name, 0);
		if (!g->parts[i].is_known) {
			snprintf(g->parts[i].name, sizeof(g->parts[i].name), "task-%zu", i);
			g->hosts.all[i].name = g->parts[i].name;
			err_set(&g->hosts.all[i].why, ENOENT, "this task never started recording");
		}
	}
	/* A program that cannot be executed leaves no run. */
	bool has_runs = false;
	for (size_t i = 0; i < g->hosts.count; i++) {
		CLEANUP(buf_release) struct buf path = BUF_INIT;
		struct host *one = &g->hosts.all[i];
		buf_addf(&path, "hosts/%s", g->parts[i].is_known ? one->place.data : "?");
		one->is_fetched = !faccessat(g->hosts.run.dirfd, path.data, F_OK, 0);
		has_runs |= one->is_fetched;
	}
	int rc = has_runs ? hosts_write(&g->hosts, NULL) : 0;
	for (size_t i = g->hosts.count; i-- > 0;)
		if (is_first_of(g, i))
			hostlink_close(g->hosts.all[i].link);
	if (!has_runs) { /* no program could be run */
		g->hosts.run.is_made = true;
		store_run_discard(&g->hosts.run);
		return 0;
	}
	return rc ? rc : hosts_join(g->hosts.run.path, NULL);
}

/*
 * Runs in a separate process until all tasks have finished, see slurm-task.h. `start_barrier` is readable when the
 * first task has finished. Returns an exit code.
 */
static int step_join(const struct record_step *s, const struct record_hosts *o, const char *meeting, int start_barrier)
{
	struct joining g = { .s = s,
		.hosts = { .o = o,
				.run = STORE_RUN_INIT,
				.count = s->tasks,
				.start_mono_ns = clock_mono_ns(),
				.start_real_ns = clock_real_ns() } };
	/* Signals to the step are for its programs; we exit after them. */
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	forget_step();
	g.hosts.all = calloc(s->tasks, sizeof(*g.hosts.all));
	g.parts = calloc(s->tasks, sizeof(*g.parts));
	int rc = g.hosts.all && g.parts ? store_run_open_any(&g.hosts.run, s->bundle.data, NULL) : -ENOMEM;
	if (rc == 0) {
		for (size_t i = 0; i < g.hosts.count; i++)
			buf_init(&g.hosts.all[i].place, 0);
		watch(&g, start_barrier);
		unlink(meeting);
		rc = finish(&g);
	}
	free(g.parts);
	free(g.hosts.all);
	return rc ? 1 : 0;
}

static bool number_of(const char *variable, unsigned *out)
{
	const char *text = getenv(variable);
	char *end;
	unsigned long v = text ? strtoul(text, &end, 10) : 0;
	if (!text || end == text || *end || v > HOSTS_MAX)
		return false;
	*out = (unsigned)v;
	return true;
}

bool record_step_find(struct record_step *s)
{
	const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID"), *within = getenv(WITHIN);
	*s = (struct record_step){ .bundle = BUF_INIT, .run = BUF_INIT, .start_barrier = -1 };
	s->node = getenv("SLURMD_NODENAME");
	if (!job || !step || !s->node || !number_of("SLURM_PROCID", &s->task) ||
			!number_of("SLURM_STEP_NUM_TASKS", &s->tasks) || !number_of("SLURM_LOCALID", &s->local))
		return false;
	int n = snprintf(s->id, sizeof(s->id), "%s.%s", job, step);
	return n > 0 && (size_t)n < sizeof(s->id) && !strchr(s->id, '/') && s->tasks > 1 && s->task < s->tasks &&
			(!within || strcmp(within, s->id) != 0);
}

/* The first task: create the run directory, and publish its path or the reason of the failure. */
static int lead(struct record_step *s, const struct record_hosts *o, const char *meeting, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf word = BUF_INIT;
	/* The run directory. */
	struct store_run run = STORE_RUN_INIT;
	int rc = writers_create_run(&run, o->dir, o->name, o->is_forced, err);
	if (!rc && mkdirat(run.dirfd, "hosts", 0700))
		rc = err_sys(err, errno, "cannot create '%s/hosts'", run.path);
	char *whole = rc ? NULL : realpath(run.path, NULL);
	if (whole)
		buf_adds(&s->bundle, whole);
	else if (!rc)
		rc = err_sys(err, errno, "cannot find '%s'", run.path);
	free(whole);
	store_run_release(&run);
	if (rc)
		buf_addf(&word, "%c%s", FAILED, err->text);
	else
		buf_adds(&word, s->bundle.data);
	unlink(meeting);
	if (symlink(word.data, meeting) && !rc)
		return err_sys(err, errno, "cannot tell the other tasks where the run is by '%s'", meeting);
	if (rc) {
		nanosleep(&(struct timespec){ .tv_sec = FAILED_S }, NULL); /* the other tasks poll */
		unlink(meeting);
	}
	return rc;
}

static int follow(struct record_step *s, const char *meeting, struct sonde_err *err)
{
	const struct timespec pause = { .tv_nsec = MEET_PAUSE_NS };
	int64_t until_ns = clock_mono_ns() + MEET_NS;
	char to[4096];
	ssize_t n;
	while ((n = readlink(meeting, to, sizeof(to) - 1)) < 0 && clock_mono_ns() < until_ns)
		nanosleep(&pause, NULL);
	if (n <= 0) {
		err_set(err, ETIMEDOUT, "the first task of this step has not created its run: '%s' not found on %s",
				meeting, s->node);
		err_hint(err, "all nodes need the same directory: use -o DIR on a shared file system");
		return -ETIMEDOUT;
	}
	to[n] = '\0';
	if (*to == FAILED)
		return err_set(err, EIO, "the first task of this step: %s", to + 1);
	buf_adds(&s->bundle, to);
	return 0;
}

static int note(const struct record_step *s, int status, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	char text[512];
	buf_addf(&path, "%s/hosts/" STEP_TASK_FILE, s->bundle.data, s->task);
	int n = snprintf(text, sizeof(text), "%s %u %d %d\n", s->node, s->local, (int)getpid(), status);
	return fs_replace_file(AT_FDCWD, path.data, text, (size_t)n, err);
}

static int start_helper(struct record_step *s, const struct record_hosts *o, const char *meeting, struct sonde_err *err)
{
	int start_barrier[2];
	if (pipe2(start_barrier, O_CLOEXEC))
		return err_sys(err, errno, "cannot create a pipe");
	s->helper = fork();
	if (!s->helper) {
		close(start_barrier[1]);
		_exit(step_join(s, o, meeting, start_barrier[0]));
	}
	close(start_barrier[0]);
	s->start_barrier = start_barrier[1];
	return s->helper < 0 ? err_sys(err, errno, "cannot fork") : 0;
}

int record_step_begin(struct record_step *s, const struct record_hosts *o, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf meeting = BUF_INIT;
	/* Next to the requested run directory, or in the runs directory. */
	const char *dir = o->dir;
	const char *slash = dir ? strrchr(dir, '/') : NULL;
	if (!dir)
		buf_adds(&meeting, store_runs_dir());
	else if (slash)
		buf_add(&meeting, dir, slash == dir ? 1 : (size_t)(slash - dir));
	else
		buf_addc(&meeting, '.');
	buf_addf(&meeting, "/.sonde-step-%s", s->id);
	int rc = s->task ? follow(s, meeting.data, err) : lead(s, o, meeting.data, err);
	if (!rc)
		rc = note(s, -1, err);
	if (!rc && !s->task)
		rc = start_helper(s, o, meeting.data, err);
	if (rc)
		return rc;
	buf_addf(&s->run, "%s/hosts/", s->bundle.data);
	step_add_place(&s->run, s->task, s->node);
	setenv(WITHIN, s->id, 1);
	return 0;
}

int record_step_end(struct record_step *s, int exit_code, struct sonde_err *err)
{
	int rc = s->bundle.len ? note(s, exit_code, err) : 0;
	if (s->start_barrier < 0)
		return rc;
	close(s->start_barrier);
	s->start_barrier = -1;
	if (!launch_reap(s->helper) || rc)
		return rc;
	err_set(err, EIO, "the runs of the tasks are in '%s', but could not be joined", s->bundle.data);
	err_hint(err, "sonde join %s tries again", s->bundle.data);
	return -EIO;
}

void record_step_release(struct record_step *s)
{
	if (s->start_barrier >= 0)
		close(s->start_barrier);
	buf_release(&s->bundle);
	buf_release(&s->run);
}

/*
 * Companion process of a step's first task: measures the clocks of the other nodes, waits for the other tasks, and
 * merges their runs.
 *
 * A task that has finished writes its status file. A killed task cannot, so a process on every node is queried whether
 * it is alive. Dead tasks are not waited for.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "record/hosts-private.h"
#include "record/slurm-task-private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASK_FILE_BYTES_MAX 512
#define STRAY_NS 60000000000 /* for tasks that cannot be queried, after the first has finished */
#define KILLED_CODE 137

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

void step_add_place(struct buf *out, unsigned task, const char *node)
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

/* Signals to the step are for its programs; we exit after them. */
static void stand_aside(void)
{
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
}

/* A program that cannot be executed leaves no run. */
static bool find_runs(struct joining *g)
{
	bool has_runs = false;
	for (size_t i = 0; i < g->hosts.count; i++) {
		CLEANUP(buf_release) struct buf path = BUF_INIT;
		struct host *one = &g->hosts.all[i];
		buf_addf(&path, "hosts/%s", g->parts[i].is_known ? one->place.data : "?");
		one->is_fetched = !faccessat(g->hosts.run.dirfd, path.data, F_OK, 0);
		has_runs |= one->is_fetched;
	}
	return has_runs;
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
	bool has_runs = find_runs(g);
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

int step_join(const struct record_step *s, const struct record_hosts *o, const char *meeting, int start_barrier)
{
	struct joining g = { .s = s,
		.hosts = { .o = o,
				.run = STORE_RUN_INIT,
				.count = s->tasks,
				.start_mono_ns = clock_mono_ns(),
				.start_real_ns = clock_real_ns() } };
	stand_aside();
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

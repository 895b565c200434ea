/* Two threads: the trader decides and moves one program, the helper moves the other. */
#include "launch/scheduling.h"

#include "base/clock.h"
#include "base/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BEST_NICE (-20)

/* Priority. */

bool priority_is_allowed(void)
{
	errno = 0;
	int usual = getpriority(PRIO_PROCESS, 0);
	if (errno || setpriority(PRIO_PROCESS, 0, BEST_NICE))
		return false;
	return !setpriority(PRIO_PROCESS, 0, usual); /* lowering is always allowed */
}

bool priority_raise(void)
{
	bool has_nice = setsid() >= 0 && !setpriority(PRIO_PROCESS, 0, BEST_NICE);
	int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return has_nice; /* the kernel has no autogroups */
	bool has_group = has_nice && write(fd, "-20", 3) == 3;
	close(fd);
	return has_group;
}

static int set_class(int class, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	return sched_setscheduler(0, class, &param) ? -errno : 0;
}

bool priority_begin(void)
{
	return !set_class(SCHED_RR, 1);
}

void priority_end(void)
{
	set_class(SCHED_OTHER, 0);
}

int priority_pass_on(void)
{
	return sched_getscheduler(0) == SCHED_RR ? set_class(SCHED_OTHER, 0) : 0; /* other scheduling classes remain */
}

/*
 * The running thread of a tree. It is scanned a hundred times a second, so the kernel's lists of children are read
 * instead of all of /proc.
 */

enum { TREE_MAX = 32 };

struct walk {
	pid_t processes[TREE_MAX];
	size_t count;
	struct runner found;
	size_t running;
};

/* The CPU that a thread runs on or is runnable on; -1 if it sleeps or has exited. */
static int running_on(int at, const char *name)
{
	char text[PROC_STAT_BYTES];
	struct proc_stat s;

	return proc_read(at, name, text, sizeof(text)) > 0 && proc_stat_parse(&s, text) && s.state == 'R'
			? (int)s.fields[PROC_CPU]
			: -1;
}

static void inspect_thread(struct walk *w, int at, pid_t id)
{
	char name[32];
	int cpu;

	snprintf(name, sizeof(name), "%d/stat", (int)id);
	cpu = running_on(at, name);
	if (cpu >= 0) {
		w->found = (struct runner){ .task = id, .cpu = cpu };
		w->running++;
	}
	snprintf(name, sizeof(name), "%d/children", (int)id);
	char text[512], *at_text = text, *end;

	if (proc_read(at, name, text, sizeof(text)) <= 0)
		return;
	for (long pid; (pid = strtol(at_text, &end, 10)) > 0 && w->count < TREE_MAX; at_text = end)
		w->processes[w->count++] = (pid_t)pid;
}

bool runner_find(struct runner *r, pid_t root)
{
	struct walk w = { .processes = { root }, .count = 1 };

	for (size_t i = 0; i < w.count && w.running < 2; i++) {
		pid_t pid = w.processes[i];
		char path[32];
		const struct dirent *entry;
		DIR *dir;

		snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
		dir = opendir(path);
		while (dir && w.running < 2 && (entry = readdir(dir)))
			if (*entry->d_name != '.')
				inspect_thread(&w, dirfd(dir), (pid_t)strtol(entry->d_name, NULL, 10));
		if (dir)
			closedir(dir);
	}
	*r = w.found;
	return w.running == 1 && w.count < TREE_MAX;
}

bool runner_is_there(const struct runner *r)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)r->task);
	return running_on(AT_FDCWD, path) == r->cpu;
}

/* Exchange of CPUs. */

enum {
	PERIOD_MS = 10,      /* measured: 5 is not better, 20 is slightly worse */
	MEET_NS = 300000,    /* maximum wait of one thread on its CPU for the other */
	FINISH_NS = 1000000, /* maximum wait for the end of a swap */
};

/*
 * Steps of one swap. The trader calls, the helper responds; the trader moves its thread, then the helper moves the
 * other.
 */
enum step { NONE, CALLED, MET, GO, DONE };

struct cpu_swap {
	pid_t jobs[2];
	pthread_t trader, helper;
	pid_t helper_id;
	atomic_bool is_helper_back; /* the last swap is finished: the trader owns the fields below */
	int trader_cpu, helper_cpu; /* the CPUs they are pinned to */
	int fds[3];                 /* pidfds of the jobs; then the descriptor that stops the thread */
	sem_t call;
	struct runner helpers; /* the thread that the helper moves and its target, valid from CALLED on */
	int helpers_to;
	_Atomic enum step step;
	_Atomic uint64_t count;
	atomic_bool is_over;
};

static bool change(struct cpu_swap *t, enum step from, enum step to)
{
	return atomic_compare_exchange_strong(&t->step, &from, to);
}

static void await_change(const struct cpu_swap *t, enum step from, int64_t limit_ns)
{
	int64_t until_ns = clock_mono_ns() + limit_ns;

	while (atomic_load(&t->step) == from && clock_mono_ns() < until_ns)
		continue;
}

static void pin(pid_t task, int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(task, sizeof(one), &one);
}

/* *whole receives its affinity mask. */
static bool may_run_on(const struct runner *r, int cpu, cpu_set_t *whole)
{
	return !sched_getaffinity(r->task, sizeof(*whole), whole) && CPU_ISSET((size_t)cpu, whole);
}

/* The thread waits for the CPU we occupy, so it migrates at once; its full mask is restored before it runs again. */
static void move(const struct runner *r, int to)
{
	cpu_set_t whole;

	if (!may_run_on(r, to, &whole))
		return;
	pin(r->task, to);
	sched_setaffinity(r->task, sizeof(whole), &whole);
}

static void answer(struct cpu_swap *t)
{
	if (!runner_is_there(&t->helpers)) {
		change(t, CALLED, NONE);
		return;
	}
	if (!change(t, CALLED, MET))
		return; /* too late */
	await_change(t, MET, FINISH_NS);
	change(t, MET, NONE); /* the trader was preempted */
	if (atomic_load(&t->step) != GO)
		return;
	move(&t->helpers, t->helpers_to);
	atomic_store(&t->step, DONE);
}

static void *help(void *arg)
{
	struct cpu_swap *t = arg;

	priority_begin();
	t->helper_id = gettid();
	for (;;) {
		atomic_store(&t->is_helper_back, true);
		while (sem_wait(&t->call))
			continue;
		if (atomic_load(&t->is_over))
			return NULL;
		answer(t);
	}
}

static void cpu_swap(struct cpu_swap *t)
{
	struct runner mine, other;
	cpu_set_t set;

	if (!atomic_load(&t->is_helper_back) || !runner_find(&mine, t->jobs[0]) || !runner_find(&other, t->jobs[1]))
		return;
	if (mine.cpu == other.cpu || !may_run_on(&mine, other.cpu, &set) || !may_run_on(&other, mine.cpu, &set))
		return;
	/* Pins the trader to the CPU of one thread and the helper to that of the other. `mine` is the trader's. */
	if (t->trader_cpu == other.cpu) {
		struct runner swapped = mine;

		mine = other;
		other = swapped;
	}
	if (t->trader_cpu != mine.cpu)
		pin(0, t->trader_cpu = mine.cpu);
	if (t->helper_cpu != other.cpu) /* the helper sleeps, so that this interrupts no thread */
		pin(t->helper_id, t->helper_cpu = other.cpu);
	t->helpers = other;
	t->helpers_to = mine.cpu;
	atomic_store(&t->is_helper_back, false);
	atomic_store(&t->step, CALLED);
	sem_post(&t->call);
	await_change(t, CALLED, MEET_NS);
	if (change(t, CALLED, NONE) || atomic_load(&t->step) != MET)
		return;
	if (!runner_is_there(&mine)) {
		change(t, MET, NONE);
		return;
	}
	/* In sequence: a thread that arrives on a CPU may preempt the trader there. */
	move(&mine, other.cpu);
	if (!change(t, MET, GO))
		return;
	await_change(t, GO, FINISH_NS); /* an idle CPU would pull the moved thread back */
	atomic_fetch_add(&t->count, 1);
}

static void *run(void *arg)
{
	struct cpu_swap *t = arg;
	struct pollfd ends[3];

	priority_begin();
	for (int i = 0; i < 3; i++)
		ends[i] = (struct pollfd){ .fd = t->fds[i], .events = POLLIN };
	while (poll(ends, 3, PERIOD_MS) <= 0)
		cpu_swap(t);
	return NULL;
}

/* These threads handle no signals. */
static int start(pthread_t *thread, void *(*body)(void *arg), struct cpu_swap *t)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	rc = pthread_create(thread, NULL, body, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static void release(struct cpu_swap *t)
{
	for (int i = 0; i < 3; i++)
		if (t->fds[i] >= 0)
			close(t->fds[i]);
	sem_destroy(&t->call);
	free(t);
}

static void stop_helper(struct cpu_swap *t)
{
	atomic_store(&t->is_over, true);
	sem_post(&t->call);
	pthread_join(t->helper, NULL);
}

static bool begin(struct cpu_swap *t)
{
	for (int i = 0; i < 3; i++)
		if (t->fds[i] < 0)
			return false;
	if (start(&t->helper, help, t))
		return false;
	if (!start(&t->trader, run, t))
		return true;
	stop_helper(t);
	return false;
}

struct cpu_swap *cpu_swap_start(const pid_t jobs[2])
{
	struct cpu_swap *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	sem_init(&t->call, 0, 0);
	t->trader_cpu = t->helper_cpu = -1;
	for (int i = 0; i < 2; i++) {
		t->jobs[i] = jobs[i];
		t->fds[i] = (int)syscall(SYS_pidfd_open, jobs[i], 0);
	}
	t->fds[2] = eventfd(0, EFD_CLOEXEC);
	if (begin(t))
		return t;
	release(t);
	return NULL;
}

uint64_t cpu_swap_count(const struct cpu_swap *t)
{
	return t ? atomic_load(&t->count) : 0;
}

void cpu_swap_stop(struct cpu_swap *t)
{
	if (!t)
		return;
	eventfd_write(t->fds[2], 1);
	pthread_join(t->trader, NULL);
	stop_helper(t);
	release(t);
}

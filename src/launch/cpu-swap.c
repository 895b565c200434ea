/* Two threads: the trader decides and moves one program, the helper moves the other. */
#include "launch/cpu-swap.h"

#include "base/clock.h"
#include "launch/busy-thread.h"
#include "launch/priority.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* Pins the trader to the CPU of one thread and the helper to that of the other. `mine` is the trader's. */
static void take_places(struct cpu_swap *t, struct runner *mine, struct runner *other)
{
	if (t->trader_cpu == other->cpu) {
		struct runner swapped = *mine;

		*mine = *other;
		*other = swapped;
	}
	if (t->trader_cpu != mine->cpu)
		pin(0, t->trader_cpu = mine->cpu);
	if (t->helper_cpu != other->cpu) /* the helper sleeps, so that this interrupts no thread */
		pin(t->helper_id, t->helper_cpu = other->cpu);
}

static void cpu_swap(struct cpu_swap *t)
{
	struct runner mine, other;
	cpu_set_t set;

	if (!atomic_load(&t->is_helper_back) || !runner_find(&mine, t->jobs[0]) || !runner_find(&other, t->jobs[1]))
		return;
	if (mine.cpu == other.cpu || !may_run_on(&mine, other.cpu, &set) || !may_run_on(&other, mine.cpu, &set))
		return;
	take_places(t, &mine, &other);
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

static void end_helper(struct cpu_swap *t)
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
	end_helper(t);
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
	end_helper(t);
	release(t);
}

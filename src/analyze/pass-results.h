/* pass-results: what passes found, for other passes and diagnosis rules. Private to analyze/. */
#ifndef SONDE_ANALYZE_PASS_RESULTS_H
#define SONDE_ANALYZE_PASS_RESULTS_H

#include "analyze/pass.h"
#include "model/stacks.h"

/* Counters. */

/* The largest value of a counter; the total of a monotonic one. NaN if the counter does not exist. */
double counters_most(const struct analyze *a, const char *name);
/* A quantile of its values, and their mean; NaN as above. */
double counters_quantile(const struct analyze *a, const char *name, double p);
double counters_mean(const struct analyze *a, const char *name);

/* GPUs. */

/* Total time of the kernels with this string in their names; STORE_NULL if no GPU commands were recorded. */
int64_t gpu_kernels_ns(const struct analyze *a, const char *part);
/* Totals of all copies in a direction; false if none. */
bool gpu_copies(const struct analyze *a, const char *direction, int64_t *ns, int64_t *bytes);

/* Layers: returns the next process and how long its calls of class io were in progress; false at the end. *at starts
 * at 0. */
bool layers_next_process(const struct analyze *a, size_t *at, int64_t *process, int64_t *io_ns);

/* Off-CPU: what threads wait for, by the functions of their stacks. */

enum wait_reason {
	WAIT_LOCK,      /* a mutex, rwlock or spinlock of the C library, Python's GIL */
	WAIT_CONDITION, /* a condition variable, semaphore or barrier; a thread join */
	WAIT_NETWORK,   /* data from a socket, or space in its send buffer */
	WAIT_DISK,      /* a device, or file pages being read or written */
	WAIT_FAULT,     /* a page of memory */
	WAIT_PIPE,      /* a pipe or terminal */
	WAIT_EVENT,     /* poll, select, epoll */
	WAIT_CHILD,     /* exit of a process */
	WAIT_SLEEP,     /* a sleep call */
	WAIT_OTHER,
	WAIT_REASONS
};

struct offcpu {
	int by_stack;
	int64_t total_ns, known_ns; /* of all threads; with a stack */
	int64_t ns[WAIT_REASONS], counts[WAIT_REASONS];
	int64_t most_ns[WAIT_REASONS], most_stack[WAIT_REASONS]; /* of one stack */
	const char *where[WAIT_REASONS];                         /* function of that stack; NULL: unknown */
};

/* Estimated total wait time of all threads for this reason, if switches without a stack are distributed like the
 * others. */
static inline int64_t offcpu_ns(const struct offcpu *o, enum wait_reason reason)
{
	return o->known_ns > 0 ? (int64_t)((double)o->ns[reason] * (double)o->total_ns / (double)o->known_ns) : 0;
}

/* Does this stack handle a page fault? */
bool wait_is_fault(struct model_stacks *stacks, int64_t stack);

#endif

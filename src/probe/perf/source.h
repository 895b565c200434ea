/*
 * source: perf events of the observed threads, and their records in time order.
 *
 * There is one ring per CPU; every event of that CPU writes to it. Records stay in
 * their rings until those of all CPUs up to their time have arrived: forks and
 * mappings come before the samples that need them. The probes that share a source set
 * at open what they want; the first that passes consumes the records, and the
 * callbacks of all are called.
 *
 * Forks, names, exits and exact CPU times always go to tasks.h.
 */
#ifndef SONDE_PROBE_PERF_SOURCE_H
#define SONDE_PROBE_PERF_SOURCE_H

#include "probe/perf/addrspace.h"
#include "probe/perf/stack-table.h"
#include "probe/probe.h"

#include <linux/perf_event.h>

struct frame; /* unwind.h */
struct task;

/* A record of any type, in our own memory or contiguous in the ring: valid during the call. */
struct perf_record {
	uint32_t type;
	uint16_t misc;
	const uint8_t *body; /* after the header */
	size_t bytes;        /* of the body, without the trailer of non-sample records */
	int32_t pid, tid;
	int64_t ts_ns;
	uint32_t cpu;
	uint64_t id;
};

struct perf_sample {
	const struct perf_record *record;
	unsigned event; /* index into host.options.events */
	uint64_t period;
	uint64_t ip;
	const uint64_t *chain; /* the kernel's call chain with its PERF_CONTEXT_ markers */
	size_t chain_count;
	bool has_regs;
	const uint64_t *regs; /* in the order of sample_regs_user */
	const uint8_t *stack;
	size_t stack_bytes;
	size_t stack_room; /* maximum that could have been copied */
};

/* A scheduler tracepoint. */
struct perf_sched_point {
	const struct perf_record *record; /* its pid and tid: the running thread, for wake-ups the waker */
	bool is_wakeup;
	int32_t tid;   /* the thread woken or switched out */
	int64_t state; /* switched out: the kernel's state bits */
};

/* An additional tracepoint of a probe; the probe owns it and keeps it as long as the source exists. */
struct perf_point {
	const char *system, *name; /* "block", "block_rq_issue" */
	bool is_wide;              /* system-wide, for any target */
	void *state;
	bool (*on_format)(void *state, struct perf_point *p, const char *format); /* finds fields; false if missing */
	void (*on_point)(void *state, const struct perf_point *p, const struct perf_record *r, const uint8_t *raw,
			size_t bytes);
	/* set by the source */
	int64_t id; /* -1: not available */
	struct sonde_err why;
	bool is_open;
};
#define PERF_POINTS_MAX 16

struct perf_wants {
	bool has_samples, has_switches;
	bool has_run_times;         /* CPU time per thread, even without has_switches */
	void *cpu, *sched, *python; /* the probes' states, passed to their callbacks */
	void (*on_sample)(void *cpu, const struct perf_sample *s);
	void (*on_switch)(void *sched, const struct perf_record *r);
	void (*on_point)(void *sched, const struct perf_sched_point *p);
	void (*on_wait)(void *sched,
			const struct perf_sample *s); /* the stack of a thread that is about to be switched out */
	struct perf_point *points[PERF_POINTS_MAX];
	size_t point_count;
	/* A sample of either kind was written: called at once, before its turn. Without its body. */
	void (*on_look)(void *python, const struct perf_record *r);
	void (*on_look_switch)(void *python, const struct perf_record *r); /* called for switches, before the samples */
	/* Adds the user frames of a sample (innermost first) and its own frames to the chain `stack`. */
	int64_t (*add_frames)(void *python, const struct perf_record *r, const struct frame *frames, size_t count,
			bool is_cut, int64_t stack);
};

struct perf_source {
	struct probe_host *host;
	struct perf_wants wants;
	struct modules modules;
	struct stacks stacks;
	bool has_kernel;             /* kernel samples and chains are allowed */
	bool has_waits;              /* samples of context switches are open */
	bool has_points;             /* the scheduler's tracepoints are open */
	uint32_t stack_bytes;        /* copied from each user stack; 0: frame pointers */
	struct sonde_err points_why; /* why they are not */
	uint64_t lost;
	/* private */
	struct perf_source_private *private;
};

/* Returns the host's source, created by the first call. NULL: out of memory. */
struct perf_source *perf_source_get(struct probe_host *host);
void perf_source_free(struct perf_source *s); /* NULL is fine */

/* Adds a tracepoint; call before attach. */
void perf_source_want(struct perf_source *s, struct perf_point *p);
/* Finds the offset of a field: `field` as in the format file with its ';'. False: missing, or too far. */
bool perf_point_field(const char *format, const char *field, size_t *at);
/* Opens all events for the host's target, once: later calls return the result of the first. */
int perf_source_attach(struct perf_source *s, struct sonde_err *err);
/* Adds a process that waits before its exec, and its descendants. */
int perf_source_on_start(struct perf_source *s, int32_t pid, struct sonde_err *err);
bool perf_source_is_on(const struct perf_source *s);
size_t perf_source_fds(struct perf_source *s, int *fds, size_t room);
/* Consumes records; a second call with the same time does nothing. is_last: consume all. Returns their number. */
uint64_t perf_source_pass(struct perf_source *s, int64_t now_ns, bool is_last);
/* Returns the process's mappings, read from /proc if it is older than the recording. */
const struct space *perf_source_space(struct perf_source *s, struct task *process);

/* The events that can be sampled, by name. */
struct perf_event_name {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool is_clock; /* its period is time */
};
extern const struct perf_event_name perf_event_names[]; /* terminated by name NULL */
const struct perf_event_name *perf_event_find(const char *name);

/* The registers of a sample: perf's mask for x86, and their DWARF numbers. */
#define PERF_USER_REGS 17
extern const uint64_t perf_user_regs_mask;
extern const uint8_t perf_user_regs_dwarf[PERF_USER_REGS];

#endif

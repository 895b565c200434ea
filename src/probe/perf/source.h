/*
 * source: perf events of the watched threads, and their records in the order of time.
 *
 * One ring a CPU; every event of that CPU writes into it. Records wait in their
 * rings until those of all CPUs up to their time are there: forks and mappings
 * come before the samples that need them. The probes that share a source say at
 * open what they want and get called back from whichever of them passes first.
 *
 * Forks, names, ends and exact CPU times go to tasks.h without anybody asking.
 */
#ifndef SONDE_PROBE_PERF_SOURCE_H
#define SONDE_PROBE_PERF_SOURCE_H

#include "probe/perf/addrspace.h"
#include "probe/perf/stack-table.h"
#include "probe/probe.h"

#include <linux/perf_event.h>

struct frame; /* unwind.h */
struct task;

/* A record of any kind, in our own memory or whole in the ring: valid during the call. */
struct perf_record {
	uint32_t type;
	uint16_t misc;
	const uint8_t *body; /* behind the header */
	size_t bytes;        /* of the body, without the trailer of records that are no samples */
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
	const uint64_t *chain; /* the kernel's call chain with its PERF_CONTEXT_ marks */
	size_t chain_count;
	bool has_regs;
	const uint64_t *regs; /* as sample_regs_user names them */
	const uint8_t *stack;
	size_t stack_bytes;
	size_t stack_room; /* how many could have been copied */
};

/* What a tracepoint of the scheduler said. */
struct perf_sched_point {
	const struct perf_record *record; /* its pid and tid: of who ran, for wake-ups the waker */
	bool is_wakeup;
	int32_t tid;   /* who was woken or switched out */
	int64_t state; /* switched out: as the kernel has it */
};

/* A tracepoint that a probe wants besides; it stays the probe's and must live as long as the source. */
struct perf_point {
	const char *system, *name; /* "block", "block_rq_issue" */
	bool is_wide;              /* of everybody on every CPU, whatever the target is */
	void *state;
	bool (*on_format)(void *state, struct perf_point *p, const char *format); /* find fields; false: they lack */
	void (*on_point)(void *state, const struct perf_point *p, const struct perf_record *r, const uint8_t *raw,
			size_t bytes);
	/* set by the source */
	int64_t id; /* -1: there is none */
	struct sonde_err why;
	bool is_open;
};
#define PERF_POINTS_MAX 16

struct perf_wants {
	bool has_samples, has_switches;
	bool has_run_times;         /* how long each thread has run, whether has_switches or not */
	void *cpu, *sched, *python; /* the probes' states, given back to them */
	void (*on_sample)(void *cpu, const struct perf_sample *s);
	void (*on_switch)(void *sched, const struct perf_record *r);
	void (*on_point)(void *sched, const struct perf_sched_point *p);
	void (*on_wait)(void *sched,
			const struct perf_sample *s); /* where a thread is that is about to be switched out */
	struct perf_point *points[PERF_POINTS_MAX];
	size_t point_count;
	/* A sample of either kind was written: told at once, before it is its turn. Without its body. */
	void (*on_look)(void *python, const struct perf_record *r);
	void (*on_look_switch)(void *python, const struct perf_record *r); /* and switches, before all of those */
	/* Adds the user frames of a sample (innermost first) to the chain `stack`, and frames of its own. */
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
	uint32_t stack_bytes;        /* copied of each user stack; 0: frame pointers */
	struct sonde_err points_why; /* why there are none */
	uint64_t lost;
	/* private */
	struct perf_source_private *private;
};

/* The host's source, made at the first call. NULL: no memory. */
struct perf_source *perf_source_get(struct probe_host *host);
void perf_source_free(struct perf_source *s); /* NULL is fine */

/* Before the source is attached: this one too. */
void perf_source_want(struct perf_source *s, struct perf_point *p);
/* Where a field of a tracepoint is: `field` as in its format file with the ';' behind. False: not there, or too far. */
bool perf_point_field(const char *format, const char *field, size_t *at);
/* Open everything for the host's target, once: later calls return what the first did. */
int perf_source_attach(struct perf_source *s, struct sonde_err *err);
/* One more process that waits before its exec, and all that come from it. */
int perf_source_meet(struct perf_source *s, int32_t pid, struct sonde_err *err);
bool perf_source_is_on(const struct perf_source *s);
size_t perf_source_fds(struct perf_source *s, int *fds, size_t room);
/* Take records; a second call with the same time does nothing. is_last: all there are. Returns how many. */
uint64_t perf_source_pass(struct perf_source *s, int64_t now_ns, bool is_last);
/* The process's mappings, read from /proc when it was there before us. */
const struct space *perf_source_space(struct perf_source *s, struct task *process);

/* events.c: what can be sampled, by name. */
struct perf_event_name {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool is_clock; /* its period is time */
};
extern const struct perf_event_name perf_event_names[]; /* ends with name NULL */
const struct perf_event_name *perf_event_find(const char *name);

/* The registers of a sample: x86's by perf's numbers, and where DWARF has them. */
#define PERF_USER_REGS 17
extern const uint64_t perf_user_regs_mask;
extern const uint8_t perf_user_regs_dwarf[PERF_USER_REGS];

#endif

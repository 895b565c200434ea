/*
 * perf-private: shared by source.c (rings), records.c (their records), attach.c (targets), attach-events.c and chain.c
 * (stacks).
 */
#ifndef SONDE_PROBE_PERF_PERF_PRIVATE_H
#define SONDE_PROBE_PERF_PERF_PRIVATE_H

#include "base/buf.h"
#include "base/map.h"
#include "probe/perf/perf-ring.h"
#include "probe/perf/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_ROOTS_MAX 4096
#define DEPTH_SIZES_MAX 3

/*
 * How much of a user stack the kernel copies into a sample.
 *
 * The copy is the extra cost of a sample with a stack: 2 us of 15 for 16 KiB, almost nothing for 1 KiB. So at high
 * sampling frequencies there is an event for each of several sizes, and one of them is enabled: the smallest that would
 * have held every recent stack. A stack that does not fit is truncated; then the largest is enabled again, and the time
 * until a smaller one is tried grows.
 */
struct depth {
	uint32_t bytes[DEPTH_SIZES_MAX]; /* largest first */
	unsigned count;                  /* 0: no copies */
	unsigned on;
	/* private */
	uint64_t deepest;     /* maximum of the stacks seen */
	uint32_t seen, trial; /* samples seen of the current trial */
};

/* is_fixed: one size for the whole run. */
void depth_init(struct depth *d, unsigned freq_hz, bool is_fixed);
/*
 * Records that a sample had room for `room` bytes and needed `needed`. is_short: that was not enough. Returns true if
 * the size changes to d->on. Samples with other, earlier sizes are ignored.
 */
bool depth_add(struct depth *d, size_t room, uint64_t needed, bool is_short);

/* Purpose of an event, found by its id. */
enum perf_role { ROLE_SAMPLE, ROLE_COUNT, ROLE_SWITCH, ROLE_WAKE, ROLE_WAIT, ROLE_POINT };

struct perf_opened {
	int fd;
	enum perf_role role;
	unsigned event; /* of ROLE_SAMPLE: index into the options' events; of ROLE_POINT: into wants.points */
	unsigned root;  /* the root that it was opened for */
	bool is_sized;  /* enabled if `size` is depth.on */
	unsigned size;
	bool is_leader; /* also reports forks, names, mappings and CPU time */
};

/* A thread that was attached to; its children inherit. */
struct perf_root {
	int32_t pid, tid;
	int64_t children_ns; /* exact CPU time of exited descendants */
};

struct perf_source_private {
	struct perf_opened *opened;
	size_t opened_count, opened_cap;
	struct perf_root *roots;
	size_t root_count, root_cap;
	struct map by_id; /* id -> index into opened + 1 */
	struct ring **rings;
	int64_t *next_ns; /* per ring: time of its next record, INT64_MAX if empty */
	size_t ring_count;
	uint32_t *cpus;
	size_t cpu_count;
	bool was_attached;
	int attach_rc;
	struct sonde_err attach_err;
	bool has_build_ids, has_namespaces;
	bool has_losses;      /* the kernel counts lost records */
	uint64_t sample_type; /* of sampling events */
	struct depth depth;   /* of the stack copies */
	bool has_new_depth;   /* the enabled size must change */
	/* tracepoints: their ids and the offsets of their fields */
	int64_t switch_id, wake_id;
	size_t prev_pid_at, prev_state_at, wake_pid_at;
	int64_t passed_ns, emitted_ns;
	uint64_t throttled;
	bool has_read_roots;
};

/* attach.c: returns the id of a tracepoint and reads its format; -1 with *error if it is not available. */
int64_t perf_find_point(const char *system, const char *name, struct buf *format, int *error);
int perf_attach(struct perf_source *s, struct sonde_err *err);

/* records.c: processes one record in time order; finds its event, NULL: not ours. */
void perf_consume(struct perf_source *s, const struct perf_record *r);
const struct perf_opened *perf_opened_of(const struct perf_source *s, uint64_t id);

/* attach-events.c: opens all events for a thread, a cgroup (its descriptor, by flags), or all processes (-1). */
int perf_open_place(struct perf_source *s, pid_t pid, unsigned long flags, unsigned root, struct sonde_err *err);
void perf_use_size(struct perf_source *s); /* enables the events of the size depth.on and disables the others */
int64_t perf_clock_shift_ns(void);         /* for decode_shift_ns */
/* Returns the number that a small file starts with; `none` if it cannot be read. */
int64_t perf_number_in(const char *path, int64_t none);

int64_t perf_ran_ns(const struct task *k); /* from schedstat, of a live thread; else STORE_NULL */

/*
 * chain.c: returns the stack of a sample, user frames and kernel frames, as a number of the table stack; STORE_NULL if
 * it is unknown. *is_cut: its outermost frames are missing.
 */
int64_t chain_of(struct perf_source *source, const struct perf_sample *s, bool is_kernel, bool *is_cut);

/*
 * Returns the current user frames of a blocked thread, read from outside, as a row of the table stack; STORE_NULL: it
 * runs, or cannot be read.
 *
 * Context switches are sampled at most at the frequency of CPU samples, and after two switches in a row the kernel
 * increases their period so much that a thread which rarely waits may get no sample. A long wait can be inspected
 * instead. Whether it was the same wait is known only at its end: the caller compares times.
 */
int64_t wait_sample(struct perf_source *source, const struct task *k);

#endif

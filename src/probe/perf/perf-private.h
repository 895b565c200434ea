/* perf-private: shared by source.c (rings), records.c (their records), attach.c (targets) and attach-events.c. */
#ifndef SONDE_PROBE_PERF_PERF_PRIVATE_H
#define SONDE_PROBE_PERF_PERF_PRIVATE_H

#include "base/buf.h"
#include "base/map.h"
#include "probe/perf/depth.h"
#include "probe/perf/perf-ring.h"
#include "probe/perf/source.h"

#define PERF_ROOTS_MAX 4096

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

/* tracepoints.c */
int64_t perf_find_point(const char *system, const char *name, struct buf *format, int *error);
void perf_find_wanted_points(struct perf_source *s);
void perf_find_sched_points(struct perf_source *s);

/* records.c: processes one record in time order; finds its event, NULL: not ours. */
void perf_take(struct perf_source *s, const struct perf_record *r);
const struct perf_opened *perf_opened_of(const struct perf_source *s, uint64_t id);

/* attach-events.c: opens all events for a thread, a cgroup (its descriptor, by flags), or all processes (-1). */
int perf_open_place(struct perf_source *s, pid_t pid, unsigned long flags, unsigned root, struct sonde_err *err);
void perf_use_size(struct perf_source *s); /* enables the events of the size depth.on and disables the others */
int64_t perf_clock_shift_ns(void);         /* for decode_shift_ns */
int perf_attach(struct perf_source *s, struct sonde_err *err);
int64_t perf_ran_ns(const struct task *k); /* from schedstat, of a live thread; else STORE_NULL */
/* Reads the exact CPU time of the attached threads themselves, at the end. */
void perf_read_roots(struct perf_source *s);

#endif

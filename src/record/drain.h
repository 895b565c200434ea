/*
 * drain: converts the rings of a run's processes to rows.
 *
 * A drain scans a ring directory, maps new segments, walks their chunks and passes each committed record to the sink,
 * in the order of each thread. It copies full chunks, recycles them at once and decodes the copies. It detects dead
 * threads and processes and finishes their records. The live recorder, `sonde recover` and the import of rings without
 * a recorder share this code.
 *
 * A record may refer to a string that another thread defines in a chunk not yet walked; then the walk of this chunk
 * resumes in the next pass.
 */
#ifndef SONDE_RECORD_DRAIN_H
#define SONDE_RECORD_DRAIN_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/map.h"
#include "calls/calls.h"
#include "probe/probe.h"
#include "record/ring-decode.h"
#include "record/ringdir.h"
#include "store/sink.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * The tables of calls of the builds that wrote into a ring.
 *
 * The number of a call in a ring is a row in the table of the libsonde that wrote it. Segments name that table by its
 * hash (calls/calls-text.h). A table with another hash than ours is read from the ring directory.
 */
struct ring_calls {
	struct ring_calls *next; /* of another build */
	uint64_t hash;
	const struct call_info *rows;
	uint32_t count;
	int64_t ids[]; /* by number: the store's id of the name, 0 if it has no row in the table call yet */
};

/*
 * The table with that hash: ours, or that of the ring directory; NULL and the reason in err if the directory has no
 * valid one, or if out of memory. *all keeps what was loaded.
 */
struct ring_calls *ring_calls_find(struct ring_calls **all, const struct ring_dir *ring, uint64_t hash,
		struct sonde_err *err);
void ring_calls_free(struct ring_calls *all);

struct drain_segment {
	struct sonde_segment *at;
	size_t bytes;
	uint32_t number;
	uint32_t chunk_count;
	struct drain_chunk {
		uint32_t at;      /* bytes consumed */
		int32_t pid, tid; /* owner of the next record */
		bool is_broken;   /* contained invalid data: skipped */
	} chunks[SONDE_CHUNKS_MAX];
};

struct drain_thread {
	int32_t pid, tid;
	int64_t start_ns, last_ns;
	uint64_t events;
	bool is_ended;
};

struct drain_process {
	uint32_t number;
	int32_t pid, ppid;
	uint32_t parent;
	int64_t start_ns, end_ns; /* end STORE_NULL while it runs */
	int64_t kernel_exit_ns;   /* see drain_ended; 0: unknown */
	int64_t exe, cwd;
	struct store_text argv;
	uint64_t events, dropped, filtered;
	char *state;    /* as text; NULL: decided at the end */
	bool is_forked; /* started by fork, not by exec */
	bool is_adopted;
	bool has_kernel_calls; /* its file calls come from the kernel: those of libc would be duplicates */
	bool is_done;
	bool is_cut;     /* it truncated a file of its ring: its segments are not read any more */
	bool is_written; /* its row in the table process */
	int pidfd;
	struct ring_calls *calls; /* the meaning of the numbers in its ring; NULL: it has none */
	/* an exec attempt that has not failed so far */
	char *exec_path;
	uint32_t exec_untraced;
	struct drain_segment *segments[SONDE_SEGMENTS_MAX];
	uint32_t segment_count;
	int64_t *names; /* by the ring's string id: the store's id, 0 if not defined yet */
	size_t name_cap;
	struct drain_thread *threads;
	size_t thread_count, thread_cap;
	size_t thread_hint;
	struct symbols *symbols; /* modules for code addresses, created on demand */
};

/* A child of a traced process, and the program it executed. Reported only if the child never creates a ring. */
struct untraced_child {
	int32_t pid;
	const struct drain_process *parent;
	uint32_t why;
	char *path; /* the program it executed; NULL: none */
	int64_t start_ns;
};

/* Copies of full chunks that are not decoded yet, oldest first; see drain-chunks.c. */
struct backlog {
	struct backlogged *first, *last, *spare;
	unsigned count;
	uint64_t records; /* in all of them */
};

struct drain {
	struct ring_dir *ring;
	struct store_sink *sink;
	struct tick_line line;
	void (*board)(void *arg, int dirfd, const char *name); /* see record.h */
	void *board_arg;
	/* Receives steps instead of the table; names are ids of the sink's strings. NULL: steps become rows. */
	void (*step)(void *arg, const struct store_step *step);
	void *step_arg;
	bool has_syscalls;         /* a probe reports system calls of programs that bypass libc */
	struct probe_host *probes; /* receives the connections of processes; NULL: none */
	bool has_foreign_pids;     /* of another namespace: exits are known only from the rings */
	int epollfd;               /* process exits; -1: the rings are only read (recovery, import) */
	struct drain_process **processes;
	size_t process_count, process_cap;
	struct drain_process **live; /* those that are not done; same capacity as `processes` */
	size_t live_count;
	struct map by_number;       /* number of the image -> process index + 1 */
	struct map by_segment;      /* process << 16 | number -> 1 */
	struct map by_pid;          /* pid -> newest process index + 1 */
	struct map exits;           /* pid -> wait status + 1, from the processes that waited */
	struct map call_names;      /* name of a call -> 1 when it has a row in the table call */
	struct map untraced_by_pid; /* pid -> index into untraced + 1 */
	struct untraced_child *untraced;
	size_t untraced_count, untraced_cap;
	struct arena arena;
	struct drain_process *reading; /* owner of the segments being read, which may raise SIGBUS */
	uint32_t segments_seen;
	int64_t reaped_ns;          /* last check for dead threads */
	struct ring_calls *calls;   /* tables of calls in use */
	struct sonde_err calls_why; /* why the rings of some processes are not read; empty if all are */
	uint64_t events, broken_chunks, broken_records, lost_records;
	struct backlog backlog;
	struct buf scratch;
	struct ring_record ring_record;
};

int drain_init(struct drain *d, struct ring_dir *ring, struct store_sink *sink, bool is_live, struct sonde_err *err);
/* One pass over everything. Returns the number of records consumed. */
uint64_t drain_pass(struct drain *d);
/* Write the rows of processes that have exited, so that they survive a crash of the recorder. */
void drain_checkpoint(struct drain *d);
/* Add a process image that has no ring but is seen by a probe: it gets a number and a row in the table process. */
void drain_adopt(struct drain *d, const struct probe_image *image);
void drain_count(struct drain *d, const struct store_io *row); /* a call of an adopted process */
/* The id of a call's name in the table call; STORE_NULL if unknown. */
int64_t drain_call_id(struct drain *d, const char *name, uint32_t categories);
/* The kernel's exit time of the process with that image. */
void drain_ended(struct drain *d, uint32_t number, int64_t end_ns);
/* The main program's status, as waitpid returns it. */
void drain_exited(struct drain *d, pid_t pid, int status);
/* After the last pass: finish what has exited, mark the rest as running, write the dimension rows. */
void drain_finish(struct drain *d);
void drain_release(struct drain *d);

/* Private to drain*.c. */
void drain_discover(struct drain *d); /* new segments and their processes */
/* For a ring without a recorder: a point where both its ticks and the clock are known. */
void drain_pair(struct drain *d, uint64_t ticks, int64_t mono_ns);
static inline struct sonde_chunk *drain_chunk_at(const struct drain_segment *s, uint32_t i)
{
	return (void *)((char *)s->at + SONDE_SEGMENT_HEAD_BYTES + (size_t)i * SONDE_CHUNK_BYTES);
}
/*
 * Walk one chunk. is_closed: its owner writes no more, so unfinished records stay unfinished. Returns true if no
 * started record is left in it.
 */
bool drain_walk(struct drain *d, struct drain_process *p, struct drain_chunk *state, struct sonde_chunk *c,
		bool is_closed, bool is_last_chance);
void drain_backlog(struct drain *d); /* full chunks of all live processes: copy, recycle, decode */
void drain_backlog_release(struct drain *d);
void drain_publish(struct drain *d); /* events that have left the rings so far, to compute the loss after a crash */
/* Consume the committed records of a process. is_last_chance: do not wait for undefined strings. */
void drain_consume(struct drain *d, struct drain_process *p, bool is_dead, bool is_last_chance);
void drain_reap(struct drain *d, struct drain_process *p); /* chunks of dead threads */
/* The process image is gone: consume the rest and close its unfinished spans. */
void drain_consume_last(struct drain *d, struct drain_process *p, int64_t end_ns);
/* Write rows of processes that have exited with a known status; is_last: of all others too. */
void emit_processes(struct drain *d, bool is_last);
struct drain_process *drain_by_pid(struct drain *d, int32_t pid);
struct drain_process *drain_by_number(struct drain *d, uint32_t number); /* NULL if not found */
/* True if no event of this child was ever seen. */
bool drain_is_unseen(struct drain *d, const struct untraced_child *b);
/* True if a live child has not created its ring yet. */
bool drain_awaits(struct drain *d);
/* Total of dropped and filtered events and of untraced execs. */
void drain_losses(struct drain *d, uint64_t *dropped, uint64_t *filtered, uint64_t *untraced);

#endif

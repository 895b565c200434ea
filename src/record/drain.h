/*
 * drain: from the rings of a run's processes to rows.
 *
 * A drain looks into a ring directory, maps what appears there, walks the chunks
 * and hands each committed record to the sink, in the order of each thread. It
 * copies chunks that are full, gives them back at once and reads the copies, notices
 * threads and processes that have died and finishes theirs. The same code serves the live recorder, `sonde recover`
 * and rings that were left without a recorder.
 *
 * A record may name a string that another thread has defined in a chunk not yet
 * walked; then the walk of this chunk waits for the next pass.
 */
#ifndef SONDE_RECORD_DRAIN_H
#define SONDE_RECORD_DRAIN_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/map.h"
#include "probe/probe.h"
#include "record/ring-decode.h"
#include "record/ringdir.h"
#include "store/sink.h"

#include <stdbool.h>
#include <sys/types.h>

struct drain_segment {
	struct sonde_segment *at;
	size_t bytes;
	uint32_t number;
	uint32_t chunk_count;
	struct drain_chunk {
		uint32_t at;      /* bytes consumed */
		int32_t pid, tid; /* whose the next record is */
		bool is_broken;   /* held nonsense: left alone */
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
	int64_t kernel_exit_ns;   /* see drain_ended; 0: nobody told */
	int64_t exe, cwd;
	struct store_text argv;
	uint64_t events, dropped, filtered;
	char *state;    /* in words; NULL: decided at the end */
	bool is_forked; /* began by fork, not by exec */
	bool is_adopted;
	bool has_kernel_calls; /* its calls on files come from the kernel: those of libc would be the same again */
	bool is_done;
	bool is_cut;     /* it has shortened a file of its ring: no segment of it is read any more */
	bool is_written; /* its row of the table process */
	int pidfd;
	/* an exec that was tried and has not failed so far */
	char *exec_path;
	uint32_t exec_untraced;
	struct drain_segment *segments[SONDE_SEGMENTS_MAX];
	uint32_t segment_count;
	int64_t *names; /* by the ring's string id: the store's, 0 not defined yet */
	size_t name_cap;
	struct drain_thread *threads;
	size_t thread_count, thread_cap;
	size_t thread_hint;
	struct symbols *symbols; /* modules for code addresses, made at first need */
};

/* A child that somebody made, and what it became; interesting only if it never shows up by itself. */
struct untraced_child {
	int32_t pid;
	const struct drain_process *parent;
	uint32_t why;
	char *path; /* the program it executed; NULL: none */
	int64_t start_ns;
};

/* Copies of full chunks, oldest first, which are still to be read; see drain-backlog.c. */
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
	/* Steps are told to it instead of being rows; names are ids of the sink's strings. NULL: they are rows. */
	void (*step)(void *arg, const struct store_step *step);
	void *step_arg;
	bool has_syscalls;         /* somebody sees those of programs that do not use libc for their files */
	struct probe_host *probes; /* told of connections that processes make; NULL: nobody asks */
	bool has_foreign_pids;     /* of another namespace: ends are learnt from the rings alone */
	int epollfd;               /* process ends; -1: nobody lives and the rings are only read (recovery, import) */
	struct drain_process **processes;
	size_t process_count, process_cap;
	struct drain_process **live; /* those that are not done; as much room as `processes` */
	size_t live_count;
	struct map by_number;       /* of the image -> process index + 1 */
	struct map by_segment;      /* process << 16 | number -> 1 */
	struct map by_pid;          /* pid -> newest process index + 1 */
	struct map exits;           /* pid -> wait status + 1, from those who waited */
	struct map untraced_by_pid; /* pid -> index into blind + 1 */
	struct untraced_child *untraced;
	size_t untraced_count, untraced_cap;
	struct arena arena;
	struct drain_process *reading; /* the segments of this one are being read, which may end in SIGBUS */
	uint32_t segments_seen;
	int64_t reaped_ns; /* when threads were last asked whether they live */
	int64_t call_ids[1024];
	uint64_t events, broken_chunks, broken_records, lost_records;
	struct backlog backlog;
	struct buf scratch;
	struct ring_record ring_record;
};

int drain_init(struct drain *d, struct ring_dir *ring, struct store_sink *sink, bool is_live, struct sonde_err *err);
/* One pass over everything; returns how many records it took. */
uint64_t drain_pass(struct drain *d);
/* Put what is known of ended processes among the rows, so that it survives us. */
void drain_checkpoint(struct drain *d);
/* An image without a ring, which somebody else sees: it gets a number and a row among the processes. */
void drain_adopt(struct drain *d, const struct probe_image *image);
void drain_count(struct drain *d, const struct store_io *row); /* a call of one of those */
/* Of the table call: the id of a call's name; STORE_NULL when there is none. */
int64_t drain_call_id(struct drain *d, const char *name, uint32_t categories);
/* The kernel said when that image's process ended. */
void drain_ended(struct drain *d, uint32_t number, int64_t end_ns);
/* The main program's status, as wait tells it. */
void drain_exited(struct drain *d, pid_t pid, int status);
/* Nothing more will be taken: finish what ended, leave what lives as running, write the dimension rows. */
void drain_finish(struct drain *d);
void drain_release(struct drain *d);

/* Shared by the drain's own files. */
void drain_discover(struct drain *d); /* segments that are new, and their processes */
/* Of a ring that nobody wrote with us: a point where its ticks and the clock are known. */
void drain_pair(struct drain *d, uint64_t ticks, int64_t mono_ns);
static inline struct sonde_chunk *drain_chunk_at(const struct drain_segment *s, uint32_t i)
{
	return (void *)((char *)s->at + SONDE_SEGMENT_HEAD_BYTES + (size_t)i * SONDE_CHUNK_BYTES);
}
/*
 * Walk one chunk. is_closed: its owner writes no more, so that what is unfinished
 * stays so. Returns true when nothing that has begun is left in it.
 */
bool drain_walk(struct drain *d, struct drain_process *p, struct drain_chunk *state, struct sonde_chunk *c,
		bool is_closed, bool is_last_chance);
void drain_recycle(struct drain_process *p, struct drain_segment *s, uint32_t i);
void drain_backlog(struct drain *d); /* full chunks of all who live: copy, give back, read */
/* What still waits of a process for names that others define. */
void drain_backlog_of(struct drain *d, const struct drain_process *p, bool is_last_chance);
void drain_backlog_release(struct drain *d);
void drain_publish(struct drain *d); /* how many events left the rings so far, for who has to say what we lost */
/* Records of a process, as far as they are committed. is_last_chance: nothing is worth waiting for. */
void drain_take(struct drain *d, struct drain_process *p, bool is_dead, bool is_last_chance);
void drain_reap(struct drain *d, struct drain_process *p); /* chunks that dead threads have kept */
/* The image is gone: the last of it, and the ends of spans that it was in. */
void drain_take_last(struct drain *d, struct drain_process *p, int64_t end_ns);
/* Rows of the processes that ended and whose exit status is known; is_last: of all others too. */
void emit_processes(struct drain *d, bool is_last);
struct drain_process *drain_by_pid(struct drain *d, int32_t pid);
struct drain_process *drain_by_number(struct drain *d, uint32_t number); /* NULL when there is none */
/* Was nothing ever seen of this child? */
bool drain_is_unseen(struct drain *d, const struct untraced_child *b);
/* Is there a child that lives and should show up soon? */
bool drain_awaits(struct drain *d);
/* Did it become a program that cannot be traced? */
bool drain_is_untraced(struct drain *d, const struct untraced_child *b);
/* Add up what processes lost, left out, and executed without being traced. */
void drain_losses(struct drain *d, uint64_t *dropped, uint64_t *filtered, uint64_t *untraced);

#endif

/*
 * pfwlog: the DFTracer log of one process, written from its ring.
 *
 * A ring directory of libdftracer belongs to one process image. Besides control page
 * and segments (sonde/shm.h) it holds
 *
 *   state   one struct pfwlog_state: how the log is to be written, how far it is
 *   names   texts that the log's records refer to; `strings` and `files` number them
 *   text    long arguments, at the places that SONDE records name
 *
 * and a symbolic link `<log>.ring` leads to it, as long as the log is not complete.
 * `sonde recover` takes it from there when the process was killed.
 *
 * Lines are gathered, written behind what is committed, and then committed by the
 * journal in `state` together with how far each chunk has been read: whoever finds the
 * directory applies the journal if it is being applied, cuts the log to what is
 * committed, and goes on. Chunks are given back only after that.
 */
#ifndef SONDE_PFW_PFWLOG_H
#define SONDE_PFW_PFWLOG_H

#include "pfw/aggregation-rules.h"
#include "sonde/shm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFWLOG_MAGIC 0x474f4c5746505344ull /* "DSPFWLOG" */
#define PFWLOG_VERSION 1u
#define PFWLOG_PATH_BYTES 4096u
#define PFWLOG_CURSORS_MAX 64u

/* Words of the control page that sonde/shm.h leaves free. */
#define PFWLOG_NEXT_ID 0  /* of events; atomic */
#define PFWLOG_TEXT_END 1 /* bytes handed out in the file `text`; atomic */

/* Records that libdftracer adds to those of sonde/shm.h. */
enum pfwlog_kind {
	PFWLOG_REC_EVENT = 64, /* struct pfwlog_rec_event */
	PFWLOG_REC_META,       /* struct pfwlog_rec_meta: a record of phase M, its arguments as given */
	PFWLOG_REC_CONTEXT,    /* struct pfwlog_rec_context: what follows in this chunk is inside of this event */
	PFWLOG_REC_FACT,       /* struct pfwlog_rec_meta: for the record `end`; name is "app" or "used" */
	PFWLOG_REC_END
};

enum pfwlog_type {
	PFWLOG_DFTRACER = 1,
	PFWLOG_C_APP = 2,
	PFWLOG_LIBC = 3,
	PFWLOG_PYTHON = 6,
	PFWLOG_FUNC = 8,
	PFWLOG_CPP_APP = 9
};

#define PFWLOG_EVENT_REAL 0x01u   /* times are nanoseconds of the day's clock, not ticks */
#define PFWLOG_EVENT_LEAVES 0x02u /* the thread was inside of it and is now in its parent */

struct pfwlog_rec_event {
	struct sonde_record head; /* `call` holds the argument count */
	uint64_t start;
	uint64_t dur;
	uint32_t name, category; /* string ids */
	uint32_t id;
	int32_t parent; /* -1 none */
	uint16_t level; /* from 1 */
	uint8_t type, flags;
	uint32_t reserved;
	/* struct sonde_arg args[] */
};

struct pfwlog_rec_meta {
	struct sonde_record head;
	uint32_t name; /* string id */
	uint32_t type;
	/* struct sonde_arg args[] */
};

struct pfwlog_rec_context {
	struct sonde_record head;
	int32_t id; /* -1 none */
	uint32_t level;
};

/* Types of arguments besides sonde/shm.h's INT, UINT and STR; their text follows as STR's does. */
enum pfwlog_arg_type {
	PFWLOG_ARG_JSON = 16, /* text that is JSON already: numbers, lists */
	PFWLOG_ARG_FAR        /* two words follow: offset and length of a text in the file `text` */
};

/* How the log is to be written, and what its first records say. */
struct pfwlog_setup {
	char path[PFWLOG_PATH_BYTES]; /* of the log, absolute */
	char host[256];
	char exe[PFWLOG_PATH_BYTES];     /* what `exec_hash` names */
	char command[PFWLOG_PATH_BYTES]; /* arguments, with ';' between */
	char cwd[PFWLOG_PATH_BYTES];
	char date[32];
	char facts[1024];    /* of generation E's `end`: "cfg" and "build", JSON */
	char affinity[1024]; /* a JSON list; empty: not wanted */
	char generation;     /* 'C', 'D', 'E' */
	bool has_args;       /* DFTRACER_INC_METADATA */
	bool has_tids;
	bool is_gzip;
	bool is_strict;    /* SONDE_DFTRACER_STRICT: characters that DFTracer replaces */
	bool is_lazy;      /* a forked child: no log before the first event */
	bool is_selective; /* only events that the rules name are summed up */
	int32_t pid;       /* to be written */
	int32_t ppid;
	int32_t rank;        /* -1 unknown */
	uint32_t categories; /* of calls that are written, SONDE_CAT_* */
	int64_t unit_ns;
	int64_t interval_ns;          /* events are summed up over such times; 0: each has a line */
	uint64_t batch_bytes;         /* lines gathered before they are written, at most */
	int64_t resume_bytes;         /* the log goes on behind so many bytes, as if it had not been ended; -1 no */
	uint64_t resume_events;       /* that are in it then */
	char rules[RULES_TEXT_BYTES]; /* as rules_read wants them */
};

struct pfwlog_clock {
	uint64_t ticks, last_ticks;
	int64_t mono_ns, last_mono_ns;
	int64_t real_minus_mono_ns;
};

struct pfwlog_cursor {
	uint32_t segment, chunk;
	uint32_t at; /* bytes read */
	int32_t pid, tid;
	int32_t parent;
	uint32_t level;
	uint32_t is_free; /* all of it was read, and it is to be given back */
};

struct pfwlog_state {
	uint64_t magic;
	uint32_t version;
	uint32_t call_count; /* of the hook table that wrote the ring */
	uint32_t process;    /* number of the image */
	int32_t true_pid;
	struct pfwlog_setup setup;
	struct pfwlog_clock clock;
	char app[3072], used[1024]; /* for `end`: members of JSON objects */
	/* committed */
	struct pfwlog_done {
		uint64_t file_bytes; /* of the log */
		uint64_t text_bytes; /* before compression */
		uint64_t events;
		int64_t last_ns;   /* end of the latest event, by the day's clock */
		uint32_t is_begun; /* the first records are there */
		uint32_t is_ended;
	} done, next;
	/* the journal: to be applied when is_applying */
	uint32_t is_applying;
	uint32_t cursor_count;
	struct pfwlog_cursor cursors[PFWLOG_CURSORS_MAX];
};

struct pfwlog;

enum pfwlog_pass {
	PFWLOG_LIVE, /* threads write on: what is unfinished is left for the next pass */
	PFWLOG_LAST  /* nobody writes any more */
};

/* Begin a log for the ring in this directory. NULL and *error: it cannot be. Setup and clock are copied. */
struct pfwlog *pfwlog_open(const char *ring, struct sonde_control *control, uint32_t process, int32_t pid,
		const struct pfwlog_setup *setup, const struct pfwlog_clock *clock, int *error);
/* Go on with one whose writer has died. NULL and *error: it cannot be. */
struct pfwlog *pfwlog_reopen(const char *ring, int *error);

/* A segment of the ring; each once, in the order of their numbers. It stays the caller's. */
void pfwlog_add_segment(struct pfwlog *log, struct sonde_segment *segment, size_t bytes);
uint32_t pfwlog_segments(const struct pfwlog *log);

/* Read what the chunks hold; how many records were taken. Lines are written when there are enough, or is_flushed. */
uint64_t pfwlog_take(struct pfwlog *log, enum pfwlog_pass pass, bool is_flushed);

/* Is something left that its thread has not finished? */
bool pfwlog_is_waiting(const struct pfwlog *log);

/* Close chunks that dead threads have left half full, so that they can be given back. */
void pfwlog_reap(struct pfwlog *log);

/* Everything has been taken: the last records, and the log is complete. 0 or -errno of writing it. */
int pfwlog_end(struct pfwlog *log, bool is_recovered);
const struct pfwlog_state *pfwlog_state(const struct pfwlog *log);
/* Where the log was before `end`: a setup's resume_bytes. */
int64_t pfwlog_end_at(const struct pfwlog *log);
uint64_t pfwlog_end_events(const struct pfwlog *log);
void pfwlog_free(struct pfwlog *log); /* NULL accepted */

#endif

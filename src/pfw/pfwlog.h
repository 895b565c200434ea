/*
 * pfwlog: writes the DFTracer log of one process from its ring.
 *
 * A ring directory of libdftracer belongs to one process (exec incarnation). Besides the control page and segments
 * (sonde/shm.h) it holds
 *
 *   state   one struct pfwlog_state: the log's settings, and the progress
 *   names   texts that the log's records refer to; `strings` and `files` number them
 *   text    long arguments, at the offsets that SONDE records name
 *
 * A symbolic link `<log>.ring` points to it until the log is complete. If the process was killed, `sonde recover`
 * continues from there.
 *
 * Lines are buffered, written after the committed data, and then committed by the journal in `state` together with the
 * read position of each chunk. A process that finds the directory applies a journal that is being applied, truncates
 * the log to the committed size, and continues. Chunks are freed only after the commit.
 */
#ifndef SONDE_PFW_PFWLOG_H
#define SONDE_PFW_PFWLOG_H

#include "base/err.h"
#include "sonde/shm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * aggregation-rules: which events are aggregated when DFTRACER_AGGREGATION_TYPE is SELECTIVE.
 *
 * An event is aggregated if an inclusion rule matches and no exclusion rule does. Without inclusion rules every event
 * is included. Syntax of a rule:
 *
 *   field OP value     OP is == != < <= > >=, LIKE 'glob*' (% works like *), IN {a, b}, NOT LIKE, NOT IN
 *   NOT rule, rule AND rule, rule OR rule, (rule)
 *
 * Fields are name, cat, dur and ts (in the log's unit), app, rank, and args.KEY for an argument. Values may be quoted.
 * Numbers are compared as numbers, categories ignoring case. A comparison with an argument that the event does not have
 * is false. Invalid rules are ignored.
 *
 * Uses no memory outside the struct; accepts any input text.
 */

#define RULES_TEXT_BYTES 4096u
#define RULES_NODES_MAX 256u
#define RULES_MAX 64u

struct rule_value {
	const char *text; /* NULL: a number */
	size_t bytes;
	int64_t number;
};

/* The fields of an event that rules can test. */
struct rule_event {
	struct rule_value name, cat, app;
	int64_t ts, dur, rank;
	/* Finds the argument of this name; returns false if the event has none. */
	bool (*arg)(const void *of, const char *key, size_t bytes, struct rule_value *value);
	const void *of;
};

struct aggregation_rules {
	char text[RULES_TEXT_BYTES];
	uint32_t included, excluded; /* number of rules of each kind */
	uint32_t broken;             /* invalid rules */
	uint32_t node_count, rule_count;
	struct {
		uint16_t node;
		bool is_exclusion;
	} rule[RULES_MAX];
	struct rule_node {
		uint8_t kind, op, field;
		uint16_t left, right; /* operands of AND, OR, NOT */
		uint16_t key_at, key_bytes;
		uint16_t value_at, value_bytes;
		bool is_number;
		int64_t number;
	} nodes[RULES_NODES_MAX];
};

/* Parses lines, each a rule after '+' (inclusion) or '-' (exclusion). */
void rules_read(struct aggregation_rules *r, const char *lines);

bool rules_hold(const struct aggregation_rules *r, const struct rule_event *e);

#define PFWLOG_MAGIC 0x474f4c5746505344ull /* "DSPFWLOG" */
#define PFWLOG_VERSION 2u
#define PFWLOG_PATH_BYTES 4096u
#define PFWLOG_CURSORS_MAX 64u

/* Words of the control page that sonde/shm.h does not use. */
#define PFWLOG_NEXT_ID 0  /* next event id; atomic */
#define PFWLOG_TEXT_END 1 /* allocated bytes of the file `text`; atomic */

/* Record kinds that libdftracer adds to those of sonde/shm.h. */
enum pfwlog_kind {
	PFWLOG_REC_EVENT = 64, /* struct pfwlog_rec_event */
	PFWLOG_REC_META,       /* struct pfwlog_rec_meta: a record of phase M, its arguments verbatim */
	PFWLOG_REC_CONTEXT, /* struct pfwlog_rec_context: the following records of this chunk are inside this event */
	PFWLOG_REC_FACT,    /* struct pfwlog_rec_meta: for the record `end`; name is "app" or "used" */
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

#define PFWLOG_EVENT_REAL 0x01u   /* times are wall-clock nanoseconds, not ticks */
#define PFWLOG_EVENT_LEAVES 0x02u /* the thread leaves this event and returns to its parent */

struct pfwlog_rec_event {
	struct sonde_record head; /* `call` holds the argument count */
	uint64_t start;
	uint64_t dur;
	uint32_t name, category; /* string ids */
	uint32_t id;
	int32_t parent; /* -1: none */
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
	int32_t id; /* -1: none */
	uint32_t level;
};

/* Argument types besides INT, UINT and STR of sonde/shm.h; their text follows as with STR. */
enum pfwlog_arg_type {
	PFWLOG_ARG_JSON = 16, /* text that is already JSON: numbers, lists */
	PFWLOG_ARG_FAR        /* two words follow: offset and length of a text in the file `text` */
};

/* The settings of the log, and the contents of its first records. */
struct pfwlog_setup {
	char path[PFWLOG_PATH_BYTES]; /* absolute path of the log */
	char host[256];
	char exe[PFWLOG_PATH_BYTES];     /* the file that `exec_hash` names */
	char command[PFWLOG_PATH_BYTES]; /* arguments, joined with ';' */
	char cwd[PFWLOG_PATH_BYTES];
	char date[32];
	char facts[1024];    /* "cfg" and "build" of generation E's `end`, as JSON */
	char affinity[1024]; /* a JSON list; empty: not written */
	char generation;     /* 'C', 'D', 'E' */
	bool has_args;       /* DFTRACER_INC_METADATA */
	bool has_tids;
	bool is_gzip;
	bool is_strict;    /* SONDE_DFTRACER_STRICT: replace the characters that DFTracer replaces */
	bool is_lazy;      /* a forked child: no log before its first event */
	bool is_selective; /* only events that match the rules are aggregated */
	int32_t pid;       /* as written */
	int32_t ppid;
	int32_t rank;        /* -1 if unknown */
	uint32_t categories; /* categories of calls to write, SONDE_CAT_* */
	int64_t unit_ns;
	int64_t interval_ns;          /* aggregation interval; 0: one line per event */
	uint64_t batch_bytes;         /* maximum size of buffered lines */
	int64_t resume_bytes;         /* continue the log after this many bytes, as if it had not ended; -1: no */
	uint64_t resume_events;       /* number of events in it then */
	char rules[RULES_TEXT_BYTES]; /* input of rules_read */
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
	uint32_t is_free; /* fully read, to be freed */
};

struct pfwlog_state {
	uint64_t magic;
	uint32_t version;
	uint32_t process;    /* number of the process (exec incarnation) */
	uint64_t calls_hash; /* of the table of calls that wrote the ring (calls/calls-text.h) */
	int32_t true_pid;
	struct pfwlog_setup setup;
	struct pfwlog_clock clock;
	char app[3072], used[1024]; /* for `end`: members of JSON objects */
	/* committed */
	struct pfwlog_done {
		uint64_t file_bytes; /* size of the log */
		uint64_t text_bytes; /* before compression */
		uint64_t events;
		int64_t last_ns;   /* end of the latest event, in wall-clock time */
		uint32_t is_begun; /* the first records are written */
		uint32_t is_ended;
	} done, next;
	/* the journal: to be applied if is_applying is set */
	uint32_t is_applying;
	uint32_t cursor_count;
	struct pfwlog_cursor cursors[PFWLOG_CURSORS_MAX];
};

struct pfwlog;

enum pfwlog_pass {
	PFWLOG_LIVE, /* threads are still writing: unfinished records are left for the next pass */
	PFWLOG_LAST  /* all writers have finished */
};

/* Creates a log for the ring in this directory. Returns NULL and sets *error on failure. Setup and clock are copied. */
struct pfwlog *pfwlog_open(const char *ring, struct sonde_control *control, uint32_t process, int32_t pid,
		const struct pfwlog_setup *setup, const struct pfwlog_clock *clock, int *error);
/* Continues a log with a dead writer. Returns NULL and sets *error on failure. */
struct pfwlog *pfwlog_reopen(const char *ring, int *error);

/* Adds a segment of the ring; each once, in the order of their numbers. The caller keeps ownership. */
void pfwlog_add_segment(struct pfwlog *log, struct sonde_segment *segment, size_t bytes);
uint32_t pfwlog_segments(const struct pfwlog *log);

/* Reads the chunks and returns the number of records read. Lines are written if there are enough, or if is_flushed. */
uint64_t pfwlog_consume(struct pfwlog *log, enum pfwlog_pass pass, bool is_flushed);

/* Returns whether a thread has left a record unfinished. */
bool pfwlog_is_waiting(const struct pfwlog *log);

/* Closes chunks that dead threads left partly filled, so that they can be freed. */
void pfwlog_reap(struct pfwlog *log);

/* Call after everything was read: writes the last records and completes the log. 0 or -errno of writing it. */
int pfwlog_end(struct pfwlog *log, bool is_recovered);
const struct pfwlog_state *pfwlog_state(const struct pfwlog *log);
/* The size of the log before `end`: a setup's resume_bytes. */
int64_t pfwlog_end_at(const struct pfwlog *log);
uint64_t pfwlog_end_events(const struct pfwlog *log);
void pfwlog_free(struct pfwlog *log); /* accepts NULL */

/*
 * log-recover: finishes the logs of processes that were killed.
 *
 * A leftover ring has a link (or is itself) named `<log>.ring`; see pfwlog.h. Recovery resumes exactly where the
 * process's own writer stopped. It may be killed and run again.
 *
 * A ring may belong to any user and names its own log, so it is untrusted: it is recovered only into the log it is
 * named after, in the same directory, and not through a link. Recovery removes only files with the names of a ring's
 * parts, in the directory with the inode that the control page names; any other file stays and keeps the directory.
 */

struct pfwlog_recovered {
	char log[4096];
	uint64_t written_events; /* already in the log */
	uint64_t ring_events;    /* recovered from the ring */
	uint64_t dropped;        /* lost: the ring was full */
};

/* Returns whether the path names a log, a ring of one, or a directory that contains rings. */
bool pfwlog_is_recoverable(const char *path);

/* Finishes one log and removes its ring; -EBUSY if its process is alive, unless is_forced. */
int pfwlog_recover_ring(const char *ring, bool is_forced, struct pfwlog_recovered *result, struct sonde_err *err);

/* Recovers everything that `path` names. Calls `each` for every log; stops if it fails. 0 or the first error. */
int pfwlog_recover(const char *path, bool is_forced, int (*each)(void *arg, const struct pfwlog_recovered *result),
		void *arg, struct sonde_err *err);

#endif

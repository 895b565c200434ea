/* Shared by the files of pfwlog. */
#ifndef SONDE_PFW_LOG_PRIVATE_H
#define SONDE_PFW_LOG_PRIVATE_H

#include "calls/calls.h"
#include "pfw/deflate.h"
#include "pfw/line-write.h"
#include "pfw/pfwlog.h"
#include "record/ring-decode.h"
#include "tracer/raw-syscall.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * log-names: the texts of a log, each stored once: paths, event names, keys, commands.
 *
 * They are stored in files of the ring directory, so that recovery can finish the log of a killed process. The lookup
 * table is private and is rebuilt. A name stores the position of the record that announces it, so that it is announced
 * again if that record was not committed.
 */

struct name {
	uint64_t hash;      /* as written in the log */
	uint64_t file_at;   /* 1 + position of its FH record in the text; 0: none */
	uint64_t string_at; /* the same for its SH record */
	uint32_t quick;     /* for the table */
	uint32_t bytes;
	char text[];
};

/* A file, mapped at its maximum size and allocated on demand; without a file, anonymous memory. */
struct grown {
	char *at;
	size_t reserved, allocated;
	int fd;
};

struct names {
	bool is_hex; /* hashes of generation D and E */
	struct grown arena, strings, files;
	uint32_t *table;
	size_t slots, count;
};

/*
 * Opens the files in the directory and reuses existing ones. Works without them, but then nothing survives the process.
 */
bool names_open(struct names *n, int dirfd, bool is_hex);
void names_release(struct names *n);

struct name *names_put(struct names *n, const char *text, size_t bytes); /* NULL if out of room */

/* The name with the ring's number `id`; NULL if not (yet) known. */
struct name *names_string(const struct names *n, uint64_t id);
void names_set_string(struct names *n, uint64_t id, const struct name *name);
void names_set_file(struct names *n, uint64_t number, const struct name *name);

/* Forgets announcements at or after this position of the text. */
void names_forget_behind(struct names *n, uint64_t text_bytes);

/*
 * log-file: the log file, plain or compressed, and the text to be written to it.
 *
 * In a compressed file each batch is a separate gzip member, so readers can start at any of them. The last member holds
 * the end marker and can be removed again. An existing log is appended to.
 */

/* A text buffer in mapped memory. Reserve room before a line starts: its parts are written without checks. */
struct text {
	char *data;
	size_t len, room;
};

/* Reserves `bytes` more; returns false if out of memory. */
bool text_need(struct text *t, size_t bytes);
void text_release(struct text *t);

struct log_file {
	int fd;
	bool is_gzip;
	uint64_t bytes; /* number of bytes, always whole batches */
	struct deflater *deflater;
};

/* Opens `path` and truncates it to `keep` bytes; -1: removes only its end marker. 0 or -errno. */
int log_file_open(struct log_file *f, const char *path, bool is_gzip, int64_t keep);
/* Appends "]", the end marker. */
int log_file_write_end(struct log_file *f, struct text *packed);
void log_file_release(struct log_file *f);

#define TIDS_MAX 4096u /* threads known to be announced; a power of two */

/* The read position in one chunk. */
struct walk {
	uint32_t at; /* bytes; 0: not started */
	int32_t pid, tid;
	int32_t parent;  /* the event that its thread is in; -1: none */
	uint32_t level;  /* nesting level */
	uint32_t waits;  /* passes spent waiting for a name */
	bool is_broken;  /* invalid data: not read further */
	bool is_touched; /* part of the batch */
	bool is_free;    /* freed with the batch */
	bool is_ending;  /* an exec is at `at`, and nothing after it */
};

struct log_segment {
	struct sonde_segment *at;
	uint32_t chunk_count;
	struct walk chunks[SONDE_CHUNKS_MAX];
};

/* The constant parts of a call's line. */
struct call_head {
	bool is_made, is_written;
	uint8_t bytes;
	char text[104]; /* ,"name":..,"cat":..,"type":.. */
	struct line_args args;
};

struct code;
struct sums;

struct pfwlog {
	struct pfwlog_state *state;
	struct sonde_control *control;
	int dirfd, textfd;
	struct log_file file;
	struct names names;
	struct text text;       /* lines that are not committed */
	struct text packed;     /* compressed */
	struct pfwlog_done now; /* the state with these lines committed */
	double ns_per_tick;
	uint32_t id_next, id_end;
	uint32_t segment_count;
	struct log_segment *segments[SONDE_SEGMENTS_MAX];
	uint32_t touched_count;
	struct {
		uint16_t segment, chunk;
	} touched[PFWLOG_CURSORS_MAX];
	bool is_waiting, has_free;
	int64_t end_at;
	uint64_t end_events;
	int error; /* of writing, or 0 */
	/* constant parts */
	char host[64]; /* {"hhash":.. */
	size_t host_bytes;
	char who[64]; /* of the previous line */
	size_t who_bytes;
	int32_t who_pid, who_tid;
	int32_t tids[TIDS_MAX];
	struct call_head heads[CALL_COUNT];
	struct code *code;
	struct sums *sums;
	struct aggregation_rules *rules; /* NULL: all events are aggregated, or none */
	struct ring_record ring_record;
};

enum taken { TAKEN, WAITS };

/* log-annotations.c, log-calls.c: write the record in log->ring_record, from the chunk `w`. */
enum taken log_on_call(struct pfwlog *log, struct walk *w, bool is_last_chance);
enum taken log_on_own(struct pfwlog *log, struct walk *w, bool is_last_chance);
enum taken log_on_func(struct pfwlog *log, struct walk *w);
enum taken log_on_string(struct pfwlog *log);

/* log-header.c */
enum taken log_on_meta(struct pfwlog *log, const struct walk *w, bool is_last_chance);
void log_record_fact(struct pfwlog *log);                             /* records the current record for `end` */
void log_record_used(struct pfwlog *log, const char *name, size_t n); /* adds "C_APP":1 to `used` of the `end` record */

/* log-names.c */
enum taken log_on_file(struct pfwlog *log, bool is_last_chance);
/* Returns whether the file belongs to this process (exec incarnation), so that a later record will name it. */
bool log_is_ours(const struct pfwlog *log, uint64_t file);
struct name *log_file_name(const struct pfwlog *log, uint64_t file);
/* The path, joined to the file it is relative to. NULL with *waits set: that file is not known yet. */
struct name *log_path_name(struct pfwlog *log, const struct store_text *path, uint64_t base, bool is_last_chance,
		bool *waits);

/* log-walk.c */
uint64_t log_walk(struct pfwlog *log, enum pfwlog_pass pass, bool is_last_chance);
/* After the last pass: execs that may have ended the process. They are written with `end` and undone if that fails. */
bool log_has_endings(const struct pfwlog *log);
void log_walk_endings(struct pfwlog *log);

/* log-file.c: writes the batch to the log and removes it from the ring. */
void log_commit(struct pfwlog *log);
/* Applies the journal again, in case the process that started it died. */
void log_apply_journal(struct pfwlog *log);

/* pfwlog.c */
void *log_memory(size_t bytes); /* mapped, zeroed, not inherited on fork; NULL if out of memory */
int log_open_file(struct pfwlog *log);

/* log-header.c */
void log_head_prepare(struct pfwlog *log);
void log_head_begin(struct pfwlog *log);
void log_head_end(struct pfwlog *log, bool is_recovered);
/* Starts a line; NULL if out of memory. Up to LINE_ROOM + more bytes may follow. */
char *line_begin(struct pfwlog *log, size_t more);
void line_end(struct pfwlog *log, char *at);
/* ..,"pid":..,"tid":.. after the category */
char *put_who(struct pfwlog *log, char *at, int32_t pid, int32_t tid);
/* The same with ,"ts": after it, cached from the previous line. */
char *put_who_when(struct pfwlog *log, char *at, int32_t pid, int32_t tid);
uint32_t log_next_id(struct pfwlog *log);
/* Writes its FH (is_file) or SH record, once. */
void log_announce(struct pfwlog *log, struct name *name, bool is_file, int32_t pid, int32_t tid);
void log_announce_thread(struct pfwlog *log, int32_t pid, int32_t tid);

/* Wall-clock time. */
static inline int64_t real_ns(const struct pfwlog *log, uint64_t ticks)
{
	const struct pfwlog_clock *c = &log->state->clock;
	return c->last_mono_ns + c->real_minus_mono_ns +
			(int64_t)((double)(int64_t)(ticks - c->last_ticks) * log->ns_per_tick);
}

static inline int64_t in_units(const struct pfwlog *log, int64_t ns)
{
	return log->state->setup.unit_ns == 1000 ? ns / 1000 : ns / log->state->setup.unit_ns;
}

/* aggregation.c: aggregated events; the texts must stay valid. */
struct sum_key {
	int64_t bucket;   /* interval, in wall-clock time */
	const void *what; /* the call or the event's name */
	const struct name *file;
	int32_t pid, tid;
};
struct sum;
/* Returns whether the event is aggregated instead of written. Needs name, category, times and arguments. */
bool log_is_summed(const struct pfwlog *log, struct rule_event *e);
/* Adds an event to the aggregate of this key and returns it; NULL if out of memory. head: ,"name":..,"cat":.. */
struct sum *log_sum(struct pfwlog *log, const struct sum_key *key, const char *head, size_t head_bytes);
void log_sum_add(struct sum *sum, const char *name, size_t bytes, int64_t value);
void log_write_sums(struct pfwlog *log);
void log_sums_free(struct pfwlog *log);

/* log-annotations.c: the modules in which code addresses are looked up. */
void code_module(struct code **s, uint64_t bias, uint64_t end, const struct name *path);
void code_free(struct code *s);

/* log-calls.c: the arguments of the program's records: a header each, followed by the bytes of a text. */
struct arg {
	struct sonde_arg head;
	const char *text;
	size_t bytes;
};

/* Reads the next argument at *at; returns false at the end, or if it is invalid. */
bool args_next(const struct ring_record *v, size_t *at, struct arg *arg);
bool args_known(const struct pfwlog *log, size_t at, unsigned count); /* whether all names are known */
char *args_put_value(struct pfwlog *log, char *at, const struct arg *arg);
/* Writes ,"key":value for each. */
char *args_put(struct pfwlog *log, char *at, size_t from, unsigned count);

#endif

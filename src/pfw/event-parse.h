/*
 * pfw-event: what a record means: the row that it becomes.
 *
 *   ph X (1)                  a timed event: a row of `io` when its category is
 *                             POSIX or STDIO, else of `span`
 *   ph M (4), C (2), A (3)    metadata, counter, aggregate: a row of `line`
 *   else, or without a time   a row of `line`
 *
 * Every field goes somewhere: to a column, or as it is into the JSON text of
 * `args` (arguments) or `extra` (all others). A value that does not fit its
 * column (a negative duration, an offset of 2^63) goes to the text and leaves
 * the column null. Each field's role says where it went, which is what
 * line-template.h learns from.
 */
#ifndef SONDE_PFW_EVENT_PARSE_H
#define SONDE_PFW_EVENT_PARSE_H

#include "pfw/import-cache.h"
#include "pfw/line-parse.h"
#include "store/schema.h"

enum pfw_role {
	PFW_ROLE_NONE,
	PFW_ROLE_FIXED, /* name, category or phase, which choose the row */
	PFW_ROLE_PID,
	PFW_ROLE_TID,
	PFW_ROLE_HOST,     /* a hash */
	PFW_ROLE_HOSTNAME, /* a string */
	PFW_ROLE_FILE,     /* a hash */
	PFW_ROLE_FILENAME, /* a string */
	PFW_ROLE_FILE2,    /* a hash, into io.file2 and, since its key varies, into args */
	PFW_ROLE_COLUMN,   /* a number, into field.column, see pfw_scale_of */
	PFW_ROLE_TEXT,     /* a string, into io.text */
	PFW_ROLE_ARGS,
	PFW_ROLE_EXTRA
};

enum pfw_class { PFW_EVENT, PFW_METADATA, PFW_COUNTER, PFW_OTHER };

/* What all records of an input file have in common. */
struct pfw_context {
	int64_t unit_ns;          /* of ts and dur */
	uint64_t host_kind, host; /* where records come from that do not say */
};

/* How a number becomes a column: value * mul + add, for min <= value <= max. */
struct pfw_scale {
	int64_t mul, add, min, max;
};

struct pfw_event {
	enum pfw_class class;
	enum store_table_id table; /* io, span or line */
	union {
		int64_t words[STORE_COLUMNS_MAX];
		struct store_io io;
		struct store_span span;
		struct store_line line;
	} row;
	struct pfw_process *process;                     /* NULL: no room for it */
	int64_t pid, tid, ts_ns, dur_ns;                 /* STORE_NULL: not given */
	const struct pfw_field *name, *category, *phase; /* strings, phase also a number; NULL: none */
	unsigned forms;
	bool has_host;    /* the record names its host by its hash */
	bool is_hostless; /* it does not name its host, which is known: extra says so ("hhash":null) */
	bool has_product; /* io.size is arguments product[0] times product[1], by column */
	uint8_t product[2];
	uint64_t odd_durations; /* 1: a duration that does not fit, negative above all */
	/* private */
	struct pfw_cache *cache;
	struct pfw_call *call;
	uint64_t host, file_hash, file2_hash;
	struct pfw_field *hostname, *filename;
	const struct pfw_field *text_field;
	bool has_file, has_file2;
	uint64_t seen; /* columns */
	struct store_text text, args, extra;
	struct buf text_bytes, args_bytes, extra_bytes, scratch;
};

void pfw_event_init(struct pfw_event *e, struct pfw_cache *cache);
void pfw_event_release(struct pfw_event *e);
/* The row of a scanned line, whose fields get their roles; its texts live in e. 0 or -ENOMEM, also for long texts. */
int pfw_event_make(struct pfw_event *e, const struct pfw_context *ctx, struct pfw_line *line);
/* How the number of a field of role COLUMN is scaled. */
struct pfw_scale pfw_scale_of(const struct pfw_context *ctx, enum store_table_id table, unsigned column);
int64_t pfw_product(int64_t a, int64_t b); /* STORE_NULL when it does not fit or one of them is null */

/* event-fields.c, for pfw_event_make. */
void pfw_fields_put(struct pfw_event *e, const struct pfw_context *ctx, struct pfw_line *line);
bool pfw_is_time(const struct pfw_context *ctx, const struct pfw_field *f);

#endif

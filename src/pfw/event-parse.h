/*
 * event-parse: converts a record to a row.
 *
 *   ph X (1)                  a timed event: a row of `io` if its category is
 *                             POSIX or STDIO, otherwise of `span`
 *   ph M (4), C (2), A (3)    metadata, counter, aggregate: a row of `line`
 *   other, or without a time  a row of `line`
 *
 * No field is lost: it is stored in a column, or verbatim in the JSON text of `args` (arguments) or `extra` (all
 * others). A value that does not fit its column (a negative duration, an offset of 2^63) is stored in the text, and the
 * column is null. Each field's role records its destination; line-template.h learns from it.
 */
#ifndef SONDE_PFW_EVENT_PARSE_H
#define SONDE_PFW_EVENT_PARSE_H

#include "pfw/line-parse.h"
#include "pfw/name-tables.h"
#include "store/schema.h"

#include <stdbool.h>
#include <stddef.h>

enum pfw_role {
	PFW_ROLE_NONE,
	PFW_ROLE_FIXED, /* name, category or phase; they select the table */
	PFW_ROLE_PID,
	PFW_ROLE_TID,
	PFW_ROLE_HOST,     /* a hash */
	PFW_ROLE_HOSTNAME, /* a string */
	PFW_ROLE_FILE,     /* a hash */
	PFW_ROLE_FILENAME, /* a string */
	PFW_ROLE_FILE2,    /* a hash, stored in io.file2 and, because its key varies, in args */
	PFW_ROLE_COLUMN,   /* a number, stored in field.column, see pfw_scale_of */
	PFW_ROLE_TEXT,     /* a string, stored in io.text */
	PFW_ROLE_ARGS,
	PFW_ROLE_EXTRA
};

enum pfw_class { PFW_EVENT, PFW_METADATA, PFW_COUNTER, PFW_OTHER };

/* Properties shared by all records of an input file. */
struct pfw_context {
	int64_t unit_ns;          /* of ts and dur */
	uint64_t host_kind, host; /* host of records that do not name one */
};

/* Conversion of a number to a column: value * mul + add, for min <= value <= max. */
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
	struct pfw_process *process;                     /* NULL: out of room */
	int64_t pid, tid, ts_ns, dur_ns;                 /* STORE_NULL: not given */
	const struct pfw_field *name, *category, *phase; /* strings, phase also a number; NULL if missing */
	unsigned forms;
	bool has_host;    /* the record names its host by hash */
	bool is_hostless; /* the record names no host, but one is known: extra has "hhash":null */
	bool has_product; /* io.size is the product of the arguments in these two columns */
	uint8_t product[2];
	uint64_t odd_durations; /* 1: a duration that does not fit, usually negative */
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
/*
 * Converts a scanned line to a row and sets the roles of its fields. The texts are owned by e. 0 or -ENOMEM, also for
 * texts that are too long.
 */
int pfw_event_make(struct pfw_event *e, const struct pfw_context *ctx, struct pfw_line *line);
/* The scale of the number in a field with role COLUMN. */
struct pfw_scale pfw_scale_of(const struct pfw_context *ctx, enum store_table_id table, unsigned column);
int64_t pfw_product(int64_t a, int64_t b); /* STORE_NULL if it overflows or either is null */

/* Maps between DFTracer's categories (POSIX, STDIO) and those of calls. */

/* "data", "open", "meta" and so on, by the call's name; "stdio" for STDIO calls. */
const char *pfw_call_category(const char *name, size_t n, bool is_stdio);
/* STDIO or POSIX, for a call category, which may be NULL. */
const char *pfw_trace_category(const char *call_category);

#endif

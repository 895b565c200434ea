/*
 * pfw-write: runs as DFTracer traces, one JSON object per line.
 *
 *   call, span         X, with the id, level and hashes it was imported with
 *   mark, step         X without a duration
 *   counter            C
 *   file, host, ...    M: FH, HH, SH, CM, thread_name; start and end of each process
 *
 * A run imported from traces is written back unchanged: every process in its own generation, with its own hashes, ids
 * and metadata records. Any other run, and every run if a generation was requested, is written as the tracer of that
 * generation would (line-write.h). Times are integer microseconds of wall-clock time; a run imported in another unit is
 * written in that unit. Fractions of the unit are truncated, except those that an imported trace had, which are written
 * as decimals.
 */
#ifndef SONDE_PFW_PFW_WRITE_H
#define SONDE_PFW_PFW_WRITE_H

#include "base/map.h"
#include "model/dimensions.h"
#include "model/rows.h"
#include "pfw/line-parse.h"
#include "pfw/line-write.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Only the events that start in the range. generation: 'C', 'D', 'E', or 0: that of each process. A stream error is
 * returned with its errno.
 */
int pfw_write(struct model_run *run, FILE *out, const struct model_rows_opts *range, char generation,
		struct sonde_err *err);

/* Private to pfw-write.c and write-events.c. */

struct pfw_origin {
	const struct store_process *process; /* NULL if unknown */
	char generation;                     /* 'A' to 'E', of the output */
	bool has_hash;                       /* the process has a host hash */
	bool is_hex;                         /* hashes are hexadecimal strings */
	uint64_t host_hash;
	struct store_text host; /* null if unknown */
	int64_t last_id;        /* last id given to its records, in runs that were not imported */
	uint64_t events;
};

struct pfw_writer {
	struct model_run *run;
	FILE *out;
	char generation; /* 'C', 'D', 'E'; 0: that of each process */
	bool is_imported;
	int64_t unit_ns;            /* of the output times */
	int64_t offset_ns;          /* from the run's clock to wall-clock time */
	struct pfw_origin *origins; /* by process number; 0: unknown */
	size_t origin_count;
	int64_t *file_hashes; /* by file id; STORE_NULL if none */
	size_t file_hash_count, file_hash_cap;
	struct map announced; /* files and strings with a record, per process */
	struct buf line;
	char *args;             /* of the line: the first */
	struct pfw_line fields; /* the object being rewritten */
	int64_t call;           /* whose argument names these are: */
	struct line_args call_args;
	int error;
};

/* Never NULL. */
struct pfw_origin *pfw_origin_of(struct pfw_writer *w, int64_t process);

/* {"id":..,"name":..,"cat":..,"pid":..,"tid":.. and the times; nulls are omitted. extra: the text of a JSON object. */
struct pfw_head {
	int64_t id, pid, tid;
	const struct store_text *name, *category, *extra;
	char phase; /* 'X', 'M', 'C', 'A'; 0: another, written by the caller */
	int64_t ts_ns, dur_ns;
};
/* Starts a line with room for `more` bytes of texts and objects; NULL if out of memory. */
char *pfw_line_begin(struct pfw_writer *w, const struct pfw_origin *o, const struct pfw_head *head, size_t more);
/* Opens the arguments with the host; extra may state that the record had none. */
char *pfw_args_begin(struct pfw_writer *w, const struct pfw_origin *o, const struct store_text *extra, char *at);
/* Adds the fields of an object text (NULL: none), with hashes in the format of the process. */
char *pfw_put_fields(struct pfw_writer *w, const struct pfw_origin *o, char *at, const struct store_text *object,
		bool is_definition);
#define PFW_FIELDS_ROOM(text) ((text) ? 4 * (text)->bytes : 0) /* a hash may become longer */
/* Closes the arguments, if there are any, and writes the line. */
void pfw_line_end(struct pfw_writer *w, char *at);

/*
 * The hash of a file. Before its first use by a process, writes a record that names it. Returns false if it has no
 * path.
 */
bool pfw_announce_file(struct pfw_writer *w, struct pfw_origin *o, int64_t tid, int64_t file, uint64_t *hash);

/* write-events.c: writes a row of a timeline (model/rows.h) as a line. */
void pfw_write_event(struct pfw_writer *w, enum store_table_id table, const int64_t *row);

#endif

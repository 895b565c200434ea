/*
 * pfw-write: what the writer of DFTracer traces knows of a run. Private to pfw-write*.c.
 *
 * A run that was imported from traces is written back as it was: every process
 * in its own generation, with its own hashes, ids and metadata records. Any other
 * run, and every run when a generation was asked for, is written as if the
 * tracer of that generation had seen it.
 */
#ifndef SONDE_PFW_PFW_WRITE_H
#define SONDE_PFW_PFW_WRITE_H

#include "base/map.h"
#include "exchange/exchange.h"
#include "model/dimensions.h"
#include "pfw/line-parse.h"

#include <stdbool.h>
#include <stdint.h>

struct pfw_origin {
	const struct store_process *process; /* NULL: unknown */
	char generation;                     /* 'A' to 'E', of what is written */
	bool has_hash;                       /* it has a host hash */
	bool is_hex;                         /* hashes are hexadecimal strings */
	uint64_t host_hash;
	struct store_text host; /* null: unknown */
	int64_t last_id;        /* given to its records, in runs that were not imported */
	uint64_t events;
};

struct pfw_writer {
	struct model_run *run;
	FILE *out;
	char generation; /* 'C', 'D', 'E'; 0: each process its own */
	bool is_imported;
	int64_t unit_ns;            /* of the times that are written */
	int64_t offset_ns;          /* from the run's clock to the time of day */
	struct pfw_origin *origins; /* by number of the process, 0: unknown */
	size_t origin_count;
	int64_t *file_hashes; /* by id of the file; STORE_NULL: none */
	size_t file_hash_count;
	struct map announced; /* files and strings that have a record, of each process */
	struct buf line;
	struct pfw_line fields; /* of the object that is being rewritten */
	int error;
};

int pfw_writer_init(struct pfw_writer *w, struct model_run *run, FILE *out, char generation, struct sonde_err *err);
void pfw_writer_release(struct pfw_writer *w);

/* Never NULL. */
struct pfw_origin *pfw_origin_of(struct pfw_writer *w, int64_t process);

/* Pieces of a line; keys come with what is before them: `,"ts":`. */
void pfw_put_int(struct buf *out, const char *key, int64_t v);
/* Nanoseconds as the process writes times, in the unit of the trace. */
void pfw_put_time(struct pfw_writer *w, const struct pfw_origin *o, const char *key, int64_t ns);
/* ,"ts":.. the time of day of a moment of the run; null is left out. */
void pfw_put_ts(struct pfw_writer *w, const struct pfw_origin *o, int64_t ns);
void pfw_put_text(struct buf *out, const char *key, const struct store_text *text); /* null: "" */
void pfw_put_hash(struct buf *out, const char *key, uint64_t hash, bool is_hex);
/* Write the line and start the next. */
void pfw_end_line(struct pfw_writer *w);

/* {"id":..,"name":..,"cat":..,"pid":..,"tid":..; what is null is left out. extra is the text of a JSON object. */
struct pfw_head {
	int64_t id, pid, tid;
	const struct store_text *name, *category, *extra;
	char phase; /* 'X', 'M', 'C', 'A'; 0: none of them */
};
void pfw_put_head(struct pfw_writer *w, const struct pfw_origin *o, const struct pfw_head *head);
/* ,"ph":.. as the generation writes it */
void pfw_put_phase(struct pfw_writer *w, const struct pfw_origin *o, char phase);

/* The fields of an object text, with hashes as the process writes them; `before` the first: "{" or ",". Returns whether
 * there were any. */
bool pfw_put_fields(struct pfw_writer *w, const struct pfw_origin *o, const struct store_text *object,
		const char *before, bool is_definition);

/* A row of a timeline (timeline.h), as a line. */
void pfw_write_event(struct pfw_writer *w, enum store_table_id table, const int64_t *row);

/* Records that a run which was not imported has none of. */
void pfw_write_starts(struct pfw_writer *w);
void pfw_write_ends(struct pfw_writer *w);
/* The hash of a file; before its first use by a process, a record that names it. False: it has no path. */
bool pfw_announce_file(struct pfw_writer *w, struct pfw_origin *o, int64_t tid, int64_t file, uint64_t *hash);

#endif

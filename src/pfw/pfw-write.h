/*
 * pfw-write: the state of the writer of DFTracer traces. Private to pfw-write.c and write-*.c.
 *
 * A run imported from traces is written back unchanged: every process in its own generation, with its own hashes, ids
 * and metadata records. Any other run, and every run if a generation was requested, is written as the tracer of that
 * generation would.
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
	size_t file_hash_count;
	struct map announced; /* files and strings with a record, per process */
	struct buf line;
	struct pfw_line fields; /* the object being rewritten */
	int error;
};

int pfw_writer_init(struct pfw_writer *w, struct model_run *run, FILE *out, char generation, struct sonde_err *err);
void pfw_writer_release(struct pfw_writer *w);

/* Never NULL. */
struct pfw_origin *pfw_origin_of(struct pfw_writer *w, int64_t process);

/* Parts of a line; keys include the text before them: `,"ts":`. */
void pfw_put_int(struct buf *out, const char *key, int64_t v);
/* Nanoseconds in the format of the process and the unit of the trace. */
void pfw_put_time(struct pfw_writer *w, const struct pfw_origin *o, const char *key, int64_t ns);
/* ,"ts":.. the wall-clock time of a time in the run; omitted if null. */
void pfw_put_ts(struct pfw_writer *w, const struct pfw_origin *o, int64_t ns);
void pfw_put_text(struct buf *out, const char *key, const struct store_text *text); /* null: "" */
void pfw_put_hash(struct buf *out, const char *key, uint64_t hash, bool is_hex);
/* Writes the line and starts the next. */
void pfw_end_line(struct pfw_writer *w);

/* {"id":..,"name":..,"cat":..,"pid":..,"tid":..; nulls are omitted. extra is the text of a JSON object. */
struct pfw_head {
	int64_t id, pid, tid;
	const struct store_text *name, *category, *extra;
	char phase; /* 'X', 'M', 'C', 'A'; 0: another */
};
void pfw_put_head(struct pfw_writer *w, const struct pfw_origin *o, const struct pfw_head *head);
/* ,"ph":.. in the format of the generation */
void pfw_put_phase(struct pfw_writer *w, const struct pfw_origin *o, char phase);

/*
 * Writes the fields of an object text, with hashes in the format of the process, after `before` ("{" or ","). Returns
 * whether there were any.
 */
bool pfw_put_fields(struct pfw_writer *w, const struct pfw_origin *o, const struct store_text *object,
		const char *before, bool is_definition);

/* Writes a row of a timeline (timeline.h) as a line. */
void pfw_write_event(struct pfw_writer *w, enum store_table_id table, const int64_t *row);

/* Writes the start records of a run that was not imported. */
void pfw_write_starts(struct pfw_writer *w);
void pfw_write_ends(struct pfw_writer *w);
/*
 * The hash of a file. Before its first use by a process, writes a record that names it. Returns false if it has no
 * path.
 */
bool pfw_announce_file(struct pfw_writer *w, struct pfw_origin *o, int64_t tid, int64_t file, uint64_t *hash);

#endif

/*
 * sink: the writers of a run that is being recorded.
 *
 * One writer per table, opened for its first row: a run without spans has no span table. A failure (e.g. a full disk)
 * is not returned for each row: recording continues, the lost rows are counted, and `store_sink_close` reports the
 * first failure.
 */
#ifndef SONDE_STORE_SINK_H
#define SONDE_STORE_SINK_H

#include "base/err.h"
#include "base/map.h"
#include "store/schema.h"
#include "store/strings.h"
#include "store/writer.h"

struct store_sink {
	struct store_strings strings;
	uint64_t rows;
	struct sonde_err err; /* the first failure, "" if none */
	/* private */
	uint64_t refused;         /* rows of tables that could not be created */
	struct sonde_err row_err; /* of the current row; kept here because clearing one costs more than a row */
	int tablesfd;
	struct store_writer *writers[STORE_TABLE_COUNT];
	struct map paths; /* (base, name) -> file id, for paths that were not opened */
	uint64_t last_path;
};

int store_sink_open(struct store_sink *s, int tablesfd, struct sonde_err *err);
void store_sink_add(struct store_sink *s, enum store_table_id table, const void *row);
/* The file id of a path that a call named without opening it: one for each base and name. */
int64_t store_sink_path(struct store_sink *s, int64_t base, int64_t name);
/* Assign this id to the path (recovery, in increasing order of ids). */
void store_sink_define_path(struct store_sink *s, int64_t id, int64_t base, int64_t name);
void store_sink_file(struct store_sink *s, int64_t file, int64_t base, int64_t name);
void store_sink_flush(struct store_sink *s);
uint64_t store_sink_table_rows(const struct store_sink *s, enum store_table_id table);
uint64_t store_sink_lost(const struct store_sink *s); /* rows not written to disk */
uint64_t store_sink_bytes(const struct store_sink *s);
int store_sink_close(struct store_sink *s, struct sonde_err *err);

struct buf;
struct json; /* base/json.h, which cannot be included together with jansson.h */

/*
 * run.json of a writer: its first keys, and the rows of its tables. doc/format.md lists the keys; what a writer knows
 * beyond them it adds in between.
 */
struct store_run_head {
	const char *version;    /* of sonde */
	const char *calls_hash; /* of the table of calls; NULL: the run has its own */
	const char *state;      /* "recording", "complete", "recovered" */
	const char *name;
	char *const *argv; /* NULL: unknown */
};
/* Opens the object. */
void store_run_json_start(struct json *j, struct buf *out, const struct store_run_head *head);
/* more: rows by table that were written by others than the sink; NULL: none. lost: rows. */
void store_run_json_tables(struct json *j, const struct store_sink *sink, const uint64_t *more, uint64_t lost);

#endif

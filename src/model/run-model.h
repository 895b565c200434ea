/*
 * run-model: an open run: run.json, its tables, and what is missing.
 *
 * Opening reads run.json and maps the existing tables. A run may be complete, still being recorded, left by a
 * recorder that died, truncated or damaged: everything readable is available, and model_losses reports the rest.
 * Pointers returned by a run are valid as long as the run. One thread at a time.
 */
#ifndef SONDE_MODEL_RUN_MODEL_H
#define SONDE_MODEL_RUN_MODEL_H

#include "base/buf.h"
#include "base/err.h"
#include "store/schema.h"
#include "store/table-read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_run;
struct json_t; /* jansson's */

/*
 * A run directory's path, a name under $SONDE_RUNS, or NULL or "latest" for the newest. If a name is not found, the
 * error has a hint with the existing ones.
 */
int model_run_open(struct model_run **out, const char *name, struct sonde_err *err);
void model_run_free(struct model_run *run); /* NULL is allowed */

/* As a user would write it. */
const char *model_run_path(const struct model_run *run);
/* Set the path shown for a run that was converted from something else. */
int model_run_show_as(struct model_run *run, const char *path, struct sonde_err *err);

/* run.json, an object; empty if it could not be read (model_losses reports it). */
struct json_t *model_run_json(const struct model_run *run);
/* A value in run.json by dotted path: "host.name". If absent or of another type: NULL, STORE_NULL, NaN. */
const char *model_run_str(const struct model_run *run, const char *keys);
int64_t model_run_int(const struct model_run *run, const char *keys);
double model_run_real(const struct model_run *run, const char *keys);

/* True if run.json is still the one written at the start: the recorder is running, or it died. */
bool model_run_is_unfinished(const struct model_run *run);
/* The origin of relative times: the start of the recording, else the first event; STORE_NULL if neither exists. */
int64_t model_run_start_ns(const struct model_run *run);

/* A file in tables/. */
struct model_table {
	char name[64];
	struct store_table *table; /* NULL: it could not be opened, see `trouble` */
	uint64_t bytes;            /* of the file */
	char trouble[256];         /* why, "" if no error */
};

/* All tables: those of this version in the order of the schema, then the others by name. */
const struct model_table *model_tables(const struct model_run *run, size_t *count);
/* NULL if the run has no such table or it could not be opened. */
struct store_table *model_table(const struct model_run *run, enum store_table_id id);

/* Load every block of every table, so that model_losses reports all damage. */
int model_run_check(struct model_run *run, struct sonde_err *err);
/* Call `say` with one sentence (no full stop) for each loss known so far: missing data and untraced processes. */
int model_losses(struct model_run *run, void (*say)(void *arg, const char *sentence), void *arg, struct sonde_err *err);
/* True if a file of the run is truncated, damaged or missing. */
bool model_run_is_damaged(const struct model_run *run);

/*
 * Join and normalize paths lexically.
 */

/*
 * Append base/name, or name alone if it is absolute. Empty components, "." and a trailing slash are removed, ".." is
 * kept. An empty name yields the base; a relative name without a base stays relative and is never empty.
 */
void model_path_join(struct buf *out, const struct store_text *base, const struct store_text *name);

#endif

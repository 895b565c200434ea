/*
 * run: one opened run: what run.json says, its tables, and what is missing.
 *
 * Opening reads run.json and maps the tables that are there. A run may be
 * complete, still being recorded, left by a recorder that died, cut or damaged:
 * what can be read is there, what cannot is said by model_losses. Everything
 * that a run hands out lives as long as the run. One thread at a time.
 */
#ifndef SONDE_MODEL_RUN_MODEL_H
#define SONDE_MODEL_RUN_MODEL_H

#include "base/err.h"
#include "store/table-read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_run;
struct json_t; /* jansson's */

/* A bundle's path, a name in the runs directory, or NULL or "latest" for the newest. A name that is not found
 * gets a hint with those that are. */
int model_run_open(struct model_run **out, const char *name, struct sonde_err *err);
void model_run_free(struct model_run *run); /* NULL is fine */

/* As a user would write it. */
const char *model_run_path(const struct model_run *run);
/* For a run that was made from something else: show that instead. */
int model_run_show_as(struct model_run *run, const char *path, struct sonde_err *err);

/* run.json, an object; empty when it could not be read (model_losses says so). */
struct json_t *model_run_json(const struct model_run *run);
/* A value of it, by the keys on the way: "host.name". Absent or of another type: NULL, STORE_NULL, NaN. */
const char *model_run_str(const struct model_run *run, const char *keys);
int64_t model_run_int(const struct model_run *run, const char *keys);
double model_run_real(const struct model_run *run, const char *keys);

/* Is run.json as the recorder wrote it at the start? Then it still records, or it died. */
bool model_run_is_unfinished(const struct model_run *run);
/* The instant that times are relative to: the start of the recording, else the first event; STORE_NULL: none. */
int64_t model_run_start_ns(const struct model_run *run);

/* A file in tables/. */
struct model_table {
	char name[64];
	struct store_table *table; /* NULL: it could not be opened, see `trouble` */
	uint64_t bytes;            /* of the file */
	char trouble[256];         /* why, "" when all is well */
};

/* All of them: those of this version in the order of the schema, then the others by name. */
const struct model_table *model_tables(const struct model_run *run, size_t *count);
/* NULL when the run has none or it could not be opened. */
struct store_table *model_table(const struct model_run *run, enum store_table_id id);

/* Load every block of every table, so that model_losses knows all damage. */
int model_run_check(struct model_run *run, struct sonde_err *err);
/* One full sentence (no full stop) for each thing that is missing or was not seen, as far as it is known by now. */
int model_losses(struct model_run *run, void (*say)(void *arg, const char *sentence), void *arg, struct sonde_err *err);
/* Is a file of the run cut or damaged, or gone? */
bool model_run_is_damaged(const struct model_run *run);

#endif

/*
 * dimensions: the names, processes, threads, calls and files that the events of a run refer to.
 *
 * A dimension is loaded as a whole on request (model_load); the getters return NULL for what is unknown, not loaded
 * or lost. Rows beyond MODEL_ROWS_MAX, which only a hostile table has, are ignored.
 */
#ifndef SONDE_MODEL_DIMENSIONS_H
#define SONDE_MODEL_DIMENSIONS_H

#include "base/err.h"
#include "calls/calls-find.h"
#include "model/run-model.h"
#include "store/schema.h"

#include <stddef.h>
#include <stdint.h>

#define MODEL_ROWS_MAX ((size_t)1 << 24)
#define MODEL_ARGS_MAX 4 /* io.arg0 .. io.arg3 */
#define MODEL_PATH_BYTES_MAX 16384
#define MODEL_PATH_DEPTH_MAX 64

enum model_dimension {
	MODEL_NAMES = 1 << 0,
	MODEL_PROCESSES = 1 << 1,
	MODEL_THREADS = 1 << 2,
	MODEL_CALLS = 1 << 3, /* loads the names too */
	MODEL_FILES = 1 << 4, /* loads the names too */
	MODEL_ALL = (1 << 5) - 1
};

/* Load these dimensions if they are not loaded. A missing or damaged table is not an error: model_losses reports it. */
int model_load(struct model_run *run, unsigned dimensions, struct sonde_err *err);

/* The text of a string id; NUL-terminated. */
const struct store_text *model_name(const struct model_run *run, int64_t id);
/* The same, as a C string. */
const char *model_cname(const struct model_run *run, int64_t id);
/* Ids are below this. */
size_t model_name_count(const struct model_run *run);

/* Sorted by number; texts NUL-terminated. */
const struct store_process *model_processes(const struct model_run *run, size_t *count);
const struct store_process *model_process(const struct model_run *run, int64_t number);
/* Sorted by process, then in the order of the table. */
const struct store_thread *model_threads(const struct model_run *run, size_t *count);

struct model_call {
	const struct store_text *name;
	const struct store_text *category;     /* NULL: unknown */
	const char *arg_names[MODEL_ARGS_MAX]; /* NULL: the call has no such argument */
	enum call_kind kind;
	enum call_bytes bytes;
	enum call_wait wait;
};

/* By the string id in io.call; NULL if the table has no row for it. */
const struct model_call *model_call(const struct model_run *run, int64_t id);
/* The bytes that a row of this call (NULL: unknown) moved; null if it moves none or the number is unknown. */
int64_t model_call_bytes(const struct model_call *call, int64_t ret, int64_t size, int64_t arg0, int64_t arg1);
/* The name of io.arg<n>: the call's (NULL: unknown), else "arg<n>", or NULL if the value is null. */
const char *model_arg_name(const struct model_call *call, int n, int64_t value);

/*
 * The path of a file: its base's path and its name, without "//", "/./" and trailing slash; ".." is kept because of
 * symbolic links. It is absolute, or a name that is not a path ("pipe:[7]"), or relative if its base directory was
 * lost. Null for unknown files and for chains that are circular or too long.
 */
struct store_text model_file_path(struct model_run *run, int64_t file);

/* Paths by number, 1 .. count: files with the same path have the same number. 0: no path. */
uint32_t model_file_number(struct model_run *run, int64_t file);
struct store_text model_path(const struct model_run *run, uint32_t number);
uint32_t model_path_count(const struct model_run *run);

/* Build all paths. After that any number of threads may call model_known_number. */
int model_paths_load(struct model_run *run, struct sonde_err *err);
uint32_t model_known_number(const struct model_run *run, int64_t file);

/*
 * The process tree of a run.
 */

struct model_tree_row {
	const struct store_process *process;
	unsigned depth; /* 0: its parent is not in the run */
};

/*
 * Parents come before their children, children are ordered by number; the caller frees *rows. Processes must be
 * loaded. Hostile tables in which processes descend from themselves list each once, too.
 */
int model_tree(const struct model_run *run, struct model_tree_row **rows, size_t *count, struct sonde_err *err);

#endif

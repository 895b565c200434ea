/*
 * run-dir: the run directory, which holds one run.
 *
 *   run.json    what ran; its first key is STORE_RUN_KEY with the format version
 *   tables/     the table files
 *
 * Runs are created in $SONDE_RUNS (default ./sonde-runs) as `<YYYYmmdd-HHMMSS>-<program>`, with a symlink `latest` to
 * the newest. The link is read, never followed: its target must be a plain name in the same directory. Directories
 * are 0700, files 0600. This module parses nothing in run.json but the version.
 */
#ifndef SONDE_STORE_RUN_DIR_H
#define SONDE_STORE_RUN_DIR_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

#define STORE_RUN_KEY "sonde_run" /* first key of run.json: {"sonde_run": 1, ... */
#define STORE_RUN_VERSION 1

struct store_run {
	int dirfd;    /* the run directory */
	int tablesfd; /* its tables/: the dirfd for writers, tables and strings */
	char *path;   /* as a user would write it */
	bool is_made; /* the directory did not exist before */
};

#define STORE_RUN_INIT \
	{ \
		.dirfd = -1, .tablesfd = -1 \
	}

/*
 * Create a run directory for `program` (a path or name; its last component names the run). dir NULL: a new one under
 * $SONDE_RUNS, and `latest` points to it. Else exactly dir, which must not exist or be empty; `latest` is unchanged.
 */
int store_run_create(struct store_run *run, const char *dir, const char *program, struct sonde_err *err);
/* The path of a run: a run directory's path, a name under $SONDE_RUNS, or NULL or "latest" for the newest. */
int store_run_find(const char *name, struct buf *path, struct sonde_err *err);
/* Open an existing run directory; fails if it was written by a newer version or lacks run.json. */
int store_run_open(struct store_run *run, const char *path, struct sonde_err *err);
/* Like store_run_open, for a run directory that may lack run.json (recovery). */
int store_run_open_any(struct store_run *run, const char *path, struct sonde_err *err);
void store_run_release(struct store_run *run);
/*
 * Can store_run_replace replace the run in dir? 1: yes; 0: dir holds no run, use store_run_create; -errno: a run that
 * the caller may not replace.
 */
int store_run_is_replaceable(const char *dir, struct sonde_err *err);
/* Like store_run_create, replacing the run in dir: its parts are removed, other files are kept (see below). */
int store_run_replace(struct store_run *run, const char *dir, struct sonde_err *err);
/* Remove a run that was just created, and its directory if it was created for it and is empty; then release it. */
void store_run_discard(struct store_run *run);

/* Append run.json, a file of at most 64 MiB, to text. It is untrusted: a link, pipe or device is refused. */
int store_run_read_json(int dirfd, struct buf *text, struct sonde_err *err);
/* Replace run.json atomically; the text must start with STORE_RUN_KEY. */
int store_run_write_json(int dirfd, const struct buf *text, struct sonde_err *err);

const char *store_runs_dir(void); /* $SONDE_RUNS or "sonde-runs" */

/*
 * run-parts.c: remove a run, or parts of one, from a directory that may hold other files.
 *
 * Files with the names that a run's writers use are unlinked by descriptor and name, then the directories that held
 * them, if they are empty. A foreign file is kept, and so is its directory. Symbolic links are not followed.
 */

#define STORE_PYRAMID_DIR "pyramid"
#define STORE_PYRAMID "lanes.pyr"
#define STORE_PYRAMID_TEMPORARY "lanes.tmp"
#define STORE_TABLES_NEW "tables.new" /* output of an unfinished recovery */

/*
 * Remove the directory `name` of table files. 0 if it is gone or did not exist; -errno if something could not be
 * removed.
 */
int store_tables_remove(int dirfd, const char *name);
void store_tables_empty(int tablesfd); /* only its table files */
int store_pyramid_remove(int dirfd);
/* Remove all parts of the run in this directory but not the directory. 0, or -errno of the first part that remains. */
int store_run_remove_parts(int dirfd);

#endif

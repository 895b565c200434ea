/*
 * run: the bundle, a directory that holds one run.
 *
 *   run.json    what ran; its first key is STORE_RUN_KEY with the bundle's version
 *   tables/     the table files
 *
 * Runs live in the runs directory ($SONDE_RUNS, else ./sonde-runs) under
 * `<YYYYmmdd-HHMMSS>-<program>`, with a symlink `latest` to the newest. The link
 * is read, never followed: it must hold a plain name in the runs directory.
 * Directories are 0700, files 0600. This module knows where things are and
 * nothing of what run.json says beyond its version.
 */
#ifndef SONDE_STORE_RUN_DIR_H
#define SONDE_STORE_RUN_DIR_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

#define STORE_RUN_KEY "sonde_run" /* first key of run.json: {"sonde_run": 1, ... */
#define STORE_RUN_VERSION 1

struct store_run {
	int dirfd;    /* the bundle */
	int tablesfd; /* its tables/: the dirfd for writers, tables and strings */
	char *path;   /* as a user would write it */
	bool is_made; /* its directory did not exist before it was created */
};

#define STORE_RUN_INIT \
	{ \
		.dirfd = -1, .tablesfd = -1 \
	}

/*
 * Make a bundle for a run of `program` (a path or name; its last part names the
 * run). dir NULL: a new one in the runs directory, and `latest` points to it.
 * Else exactly dir, which must not exist or be empty; `latest` stays.
 */
int store_run_create(struct store_run *run, const char *dir, const char *program, struct sonde_err *err);
/* The path of a run: a bundle's path, a name in the runs directory, or NULL or "latest" for the newest. */
int store_run_find(const char *name, struct buf *path, struct sonde_err *err);
/* Open an existing bundle; one made by a newer version or without run.json is refused. */
int store_run_open(struct store_run *run, const char *path, struct sonde_err *err);
/* As store_run_open, for a bundle that may lack run.json (recovery). */
int store_run_open_any(struct store_run *run, const char *path, struct sonde_err *err);
void store_run_release(struct store_run *run);
/*
 * Can store_run_replace replace something in dir? 1: a run; 0: there is none, and store_run_create would serve;
 * -errno: a run that the caller may not replace.
 */
int store_run_is_replaceable(const char *dir, struct sonde_err *err);
/* As store_run_create, in the place of the run in dir: its parts are removed, other files stay (see run-parts.h). */
int store_run_replace(struct store_run *run, const char *dir, struct sonde_err *err);
/* Remove a run that was just created, with its directory if that was made for it and is empty; then release it. */
void store_run_discard(struct store_run *run);

/* Append run.json, a file of at most 64 MiB, to text. It may be anybody's: a link, pipe or device is refused. */
int store_run_read_json(int dirfd, struct buf *text, struct sonde_err *err);
/* Replace run.json as a whole; the text must start with STORE_RUN_KEY. */
int store_run_write_json(int dirfd, const struct buf *text, struct sonde_err *err);

const char *store_runs_dir(void); /* $SONDE_RUNS or "sonde-runs" */

#endif

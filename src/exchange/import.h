/*
 * import: converts traces of other tools to runs.
 *
 * DFTracer traces (.pfw, .pfw.gz) of all generations, files and directories, are read by several threads, which divide
 * files, gzip members and pieces of text among them. Other tools' files (exchange.h) are read by one thread. Invalid
 * input is counted and reported line by line and loses only itself: the rest becomes a run. Memory stays below 1 GiB
 * for any input.
 */
#ifndef SONDE_EXCHANGE_IMPORT_H
#define SONDE_EXCHANGE_IMPORT_H

#include "base/buf.h"
#include "base/err.h"
#include "pfw/import-worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORT_PROBLEMS_MAX 10 /* that are reported */
#define IMPORT_THREADS_MAX 8   /* each thread has its own memory */

enum import_unit { IMPORT_UNIT_AUTO, IMPORT_UNIT_NS, IMPORT_UNIT_US, IMPORT_UNIT_MS, IMPORT_UNIT_S };

struct exchange_format; /* exchange.h */

struct import_options {
	const struct exchange_format *format; /* NULL: detected from the content of the first file */
	const char *const *paths;             /* files and directories */
	size_t path_count;
	const char *dir;       /* the run directory; NULL: a new one in the directory of runs */
	const char *name;      /* of the run; NULL: derived from the first path */
	unsigned threads;      /* 0: one per CPU, up to IMPORT_THREADS_MAX */
	enum import_unit unit; /* of times; AUTO: nanoseconds if they are that large, otherwise microseconds */
	bool is_general;       /* read every line with the general parser */
	/* Called now and then with the number of input bytes done; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};

/* A line that could not be read, or a file that is truncated or damaged. */
struct import_problem {
	char *path;
	uint64_t line;  /* from 1; 0: the file as a whole */
	char text[512]; /* one sentence without a full stop, and the start of the line */
};

struct import_result {
	char *path; /* of the run directory */
	struct pfw_counts counts;
	uint64_t files;
	uint64_t input_bytes; /* of the files */
	uint64_t text_bytes;  /* inflated */
	uint64_t run_bytes;   /* of the tables */
	uint64_t processes, threads, named_files;
	int64_t first_ns, last_ns; /* of the events; STORE_NULL if there are none */
	uint64_t bad_files;        /* truncated, damaged, empty or unreadable */
	uint64_t refused;          /* names, files and processes that did not fit in memory */
	uint64_t conflicts;        /* hashes that stand for more than one name */
	uint64_t lost_rows;
	struct import_problem problems[2 * IMPORT_PROBLEMS_MAX]; /* first those of files, then those of lines */
	size_t problem_count;
	struct sonde_err trouble; /* the error of writing the run, "" if none */
};

/* Nanoseconds; 0: AUTO. */
int64_t import_unit_ns(enum import_unit unit);
/* 0 if a run was created. -ENODATA, and no run, if the input has no record. */
int import_run(const struct import_options *o, struct import_result *result, struct sonde_err *err);
void import_result_release(struct import_result *r);

#endif

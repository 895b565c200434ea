/*
 * import-run: an import, from its inputs to the run: options, report, the tables' end, run.json.
 *
 * Common to DFTracer traces, which pfw_read_all reads with several threads, and to those of other tools
 * (exchange/import.h).
 */
#ifndef SONDE_PFW_IMPORT_RUN_H
#define SONDE_PFW_IMPORT_RUN_H

#include "base/err.h"
#include "pfw/import-pool.h"
#include "store/run-dir.h"
#include "store/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORT_PROBLEMS_MAX 10 /* that are reported */
#define IMPORT_THREADS_MAX 8   /* each thread has its own memory */

enum import_unit { IMPORT_UNIT_AUTO, IMPORT_UNIT_NS, IMPORT_UNIT_US, IMPORT_UNIT_MS, IMPORT_UNIT_S };

struct import_options {
	const char *const *paths; /* files and directories */
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

struct pfw_import {
	const struct import_options *options;
	struct import_result *result;
	const char *format; /* of the inputs: its name */
	bool is_foreign;    /* not a DFTracer trace */
	bool has_day_clock; /* times are wall-clock times */
	const char *name;   /* of the run */
	struct pfw_inputs inputs;
	struct store_run run;
	struct store_sink sink;
	struct pfw_dims dims;
	struct pfw_tables tables;
	struct import_pool pool;
};

/* Nanoseconds; 0: AUTO. */
int64_t import_unit_ns(enum import_unit unit);
/* Reads all inputs as DFTracer traces. 0 or -errno. */
int pfw_read_all(struct pfw_import *im, struct sonde_err *err);
/* Fills the result, writes the name tables and run.json, and closes the sink. */
int pfw_run_finish(struct pfw_import *im, struct sonde_err *err);
void pfw_remove_tables(int tablesfd);

#endif

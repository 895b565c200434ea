/*
 * import: traces of other tools become runs.
 *
 * DFTracer traces (.pfw, .pfw.gz) of all generations: files and directories,
 * read by several threads at once: files, gzip members and pieces of text each
 * for themselves; other tools' files (exchange.h) by one. What cannot be read is counted and told, line by line, and
 * costs only itself: a run is made of the rest. Memory stays below 1 GiB
 * whatever the input is.
 */
#ifndef SONDE_EXCHANGE_IMPORT_H
#define SONDE_EXCHANGE_IMPORT_H

#include "base/buf.h"
#include "base/err.h"
#include "pfw/import-worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORT_PROBLEMS_MAX 10 /* that are told of */
#define IMPORT_THREADS_MAX 8   /* each has memory of its own */

enum import_unit { IMPORT_UNIT_AUTO, IMPORT_UNIT_NS, IMPORT_UNIT_US, IMPORT_UNIT_MS, IMPORT_UNIT_S };

struct exchange_format; /* exchange.h */

struct import_options {
	const struct exchange_format *format; /* NULL: what the first file is by its content */
	const char *const *paths;             /* files and directories */
	size_t path_count;
	const char *dir;       /* the bundle; NULL: a new one among the runs */
	const char *name;      /* of the run; NULL: that of the first path */
	unsigned threads;      /* 0: one a CPU, up to IMPORT_THREADS_MAX */
	enum import_unit unit; /* of times; AUTO: nanoseconds when they are that large, else microseconds */
	bool is_general;       /* read every line by the general scanner */
	/* Told now and then how many bytes of the input are done; NULL: nobody is. */
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};

/* A line that is lost, or a file that is cut or damaged. */
struct import_problem {
	char *path;
	uint64_t line;  /* from 1; 0: the file as a whole */
	char text[512]; /* one sentence without a full stop, and the beginning of the line */
};

struct import_result {
	char *path; /* of the bundle */
	struct pfw_counts counts;
	uint64_t files;
	uint64_t input_bytes; /* of the files */
	uint64_t text_bytes;  /* inflated */
	uint64_t run_bytes;   /* of the tables */
	uint64_t processes, threads, named_files;
	int64_t first_ns, last_ns; /* of the events, STORE_NULL: there are none */
	uint64_t bad_files;        /* cut, damaged, empty or unreadable */
	uint64_t refused;          /* names, files, processes that found no room in memory */
	uint64_t conflicts;        /* hashes that stand for more than one name */
	uint64_t lost_rows;
	struct import_problem problems[2 * IMPORT_PROBLEMS_MAX]; /* first of files, then of lines */
	size_t problem_count;
	struct sonde_err trouble; /* what writing the run failed with, "" when nothing did */
};

/* Nanoseconds; 0: AUTO. */
int64_t import_unit_ns(enum import_unit unit);
/* 0 when there is a run. -ENODATA, and no run, when there was no record in all of the input. */
int import_run(const struct import_options *o, struct import_result *result, struct sonde_err *err);
void import_result_release(struct import_result *r);

#endif

/*
 * results: directories of result files, as duetbench and `sonde duet SUITE` leave them.
 */
#ifndef SONDE_DUET_RESULTS_H
#define SONDE_DUET_RESULTS_H

#include "duet/compare.h"
#include "duet/duet-report.h"
#include "duet/harness-parse.h"

struct duet_results {
	struct duet_table table;
	size_t files;   /* read */
	size_t unread;  /* that could not be; each was told */
	size_t sources; /* directories and tables that rows came from so far */
	const char *pattern;
	double unit_ns;
	const char *suite; /* read all results as those of this suite; NULL: by their name, else by how they look */
	/* Told each file that could not be read, and why; NULL is fine. */
	void (*on_trouble)(void *arg, const struct sonde_err *why);
	void *arg;
};

#define DUET_RESULTS_INIT { .table = DUET_TABLE_INIT }

/* Add the result files of a directory and its artifacts. -ENOENT: no directory; -ENODATA: no result in it. */
int duet_results_read(struct duet_results *r, const char *dir, struct sonde_err *err);
/* Add the rows of a file that `process` wrote. */
int duet_results_read_csv(struct duet_results *r, const char *path, struct sonde_err *err);
void duet_results_release(struct duet_results *r);

/*
 * Every suite, benchmark and type as an entry of a report, judged. Names, results and entries come from the arena; each
 * result is to be released. Iterations of JVM suites warm up.
 */
int duet_results_judge(const struct duet_results *r, const struct duet_setup *setup, struct duet_entry **entries,
		size_t *count, struct arena *arena, struct sonde_err *err);

/* The pairs of iterations that overlapped, as CSV. */
int duet_results_overlaps(const struct duet_results *r, double min_rate, struct buf *out, struct sonde_err *err);

#endif

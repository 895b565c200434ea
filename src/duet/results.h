/* results: directories of result files, as written by duetbench and `sonde duet SUITE`. */
#ifndef SONDE_DUET_RESULTS_H
#define SONDE_DUET_RESULTS_H

#include "duet/compare.h"
#include "duet/duet-report.h"
#include "duet/harness-parse.h"

struct duet_results {
	struct duet_table table;
	size_t files;   /* read */
	size_t unread;  /* files that could not be read; each was reported */
	size_t sources; /* directories and tables of the rows so far */
	const char *pattern;
	double unit_ns;
	const char *suite; /* parse all results as those of this suite; NULL: by name, else by contents */
	/* Called for each file that could not be read, with the reason; may be NULL. */
	void (*on_trouble)(void *arg, const struct sonde_err *why);
	void *arg;
};

#define DUET_RESULTS_INIT { .table = DUET_TABLE_INIT }

/* Adds the result files of a directory and its artifacts. -ENOENT: no directory; -ENODATA: no result in it. */
int duet_results_read(struct duet_results *r, const char *dir, struct sonde_err *err);
/*
 * Adds the result file of a side, in any format, whatever its name. Its repetitions are judged as runs, except those
 * of formats whose iterations warm up.
 */
int duet_results_read_file(struct duet_results *r, const char *path, enum duet_side side, struct sonde_err *err);
/* After both sides: if each has one benchmark, they are compared, whatever their names. */
void duet_results_match(struct duet_results *r);
/* Is this file one that `process` wrote? */
bool duet_results_is_table(const char *path);
/* Adds the rows of a file that `process` wrote. */
int duet_results_read_csv(struct duet_results *r, const char *path, struct sonde_err *err);
void duet_results_release(struct duet_results *r);
/* Do the iterations of this suite or format warm up? */
bool duet_results_warm_up(const char *suite);

/*
 * Judges every suite, benchmark and type, one report entry each. Names, results and entries are from the arena;
 * release each result. Iterations of JVM suites warm up.
 */
int duet_results_judge(const struct duet_results *r, const struct duet_setup *setup, struct duet_entry **entries,
		size_t *count, struct arena *arena, struct sonde_err *err);

/* Writes the pairs of iterations that overlapped, as CSV. */
int duet_results_overlaps(const struct duet_results *r, double min_rate, struct buf *out, struct sonde_err *err);

#endif

/*
 * online-journal: the files of a job's directory: journal.jsonl while it runs, and SelfTF's tables.
 *
 *	journal.jsonl                decisions and results, one per line, in order; enough to resume after a crash
 *	iteration_training_data.csv  every report
 *	configs.csv                  every configuration
 *	summary.csv, result.json     the whole job, written at its end
 *
 * The columns of iteration_training_data.csv and summary.csv are SelfTF's; columns without a value
 * are empty.
 */
#ifndef SONDE_TUNE_ONLINE_JOURNAL_H
#define SONDE_TUNE_ONLINE_JOURNAL_H

#include "base/journal.h"
#include "tune/online-controller.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The line protocol between a training program and its controller.
 *
 *	report STEP LOSS [WORKER [CONFIG]]       from the program
 *	config INDEX {"name": value, ...}        to the program: use this; the next report counts for it
 *	stop                                     to the program: write a checkpoint and exit
 *	knob NAME VALUE                          to the controller: fix this parameter
 *	event {"event": ...}                     to the fleet: a decision
 *
 * Input from the program is untrusted: unknown lines, and those longer than TRAIN_LINE_MAX, are
 * counted and skipped.
 */

enum { TRAIN_LINE_MAX = 1024 };

struct train_lines { /* all zero: initial state */
	uint64_t bad;
	/* private */
	char line[TRAIN_LINE_MAX];
	size_t len;
};

struct train_report {
	int64_t step;
	double loss; /* NAN: reported, and not a number */
	unsigned worker;
	unsigned config; /* the configuration it was made under, */
	bool has_config; /* if the program reports it */
};

/* Parses bytes as received, split anywhere; the callback gets each complete line. */
void train_lines_consume(struct train_lines *l, const char *bytes, size_t n, void (*tell)(void *arg, const char *line),
		void *arg);
/* Parses a report; false if the line is another one. */
bool train_report_parse(const char *line, struct train_report *report);

struct train_record {
	const char *dir, *id;
	bool is_resumed; /* an unfinished journal was found and replayed into the controller */
	/* private */
	struct journal journal;
	FILE *iterations;
	double worker_s[TRAIN_WORKERS_MAX]; /* last report of each */
	uint64_t worker_steps[TRAIN_WORKERS_MAX];
};

/* Opens the files in dir, which is created. Replays an unfinished journal into the controller first. */
int train_record_open(struct train_record *r, const char *dir, const char *id, struct online_controller *c,
		struct sonde_err *err);
void train_record_release(struct train_record *r);

/* Appends a line to the journal; it is also added to out. */
void train_record_config(struct train_record *r, const struct online_controller *c, const struct train_decision *d,
		double time_s, struct buf *out);
void train_record_known(struct train_record *r, const struct online_controller *c, const struct online_stage *s,
		struct buf *out);
void train_record_finish(struct train_record *r, const struct online_controller *c, double time_s, const char *why,
		struct buf *out);
void train_record_report(struct train_record *r, const struct online_controller *c, const struct train_report *report,
		double time_s);
void train_record_flush(struct train_record *r);

/* {"name": value, ...}: parameters and settings, for the program. */
void train_config_json(struct buf *out, const struct train_plan *plan, const double *point);
/* Writes summary.csv, configs.csv and result.json; the text of the last is added to json. */
int train_record_conclude(struct train_record *r, struct online_controller *c, double runtime_s, struct buf *json,
		struct sonde_err *err);

/*
 * SelfTF's tables. A parameter or setting fills a column if it has one of the
 * column's names.
 */

/* The text of the column at a point: "" if the job has no such parameter. */
void train_column(const struct train_plan *plan, const double *point, const char *column, char *text, size_t size);

#endif

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
#include "tune/online-protocol.h"

#include <stdio.h>

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

#endif

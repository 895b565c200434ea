/*
 * record: what a job's directory keeps: journal.jsonl while it runs, and SelfTF's tables.
 *
 *	journal.jsonl                what was decided and learnt, a line each, in order; enough to go on after a crash
 *	iteration_training_data.csv  every report
 *	configs.csv                  every configuration
 *	summary.csv, result.json     the job as a whole, at its end
 *
 * The columns of iteration_training_data.csv and summary.csv are SelfTF's; what a job does not have is empty.
 */
#ifndef SONDE_TUNE_ONLINE_JOURNAL_H
#define SONDE_TUNE_ONLINE_JOURNAL_H

#include "base/buf.h"
#include "tune/online-controller.h"
#include "tune/online-protocol.h"

#include <stdio.h>

struct train_record {
	const char *dir, *id;
	bool is_resumed; /* the journal of a job that has not finished was there: the coach knows what it had learnt */
	/* private */
	FILE *journal, *iterations;
	double worker_s[TRAIN_WORKERS_MAX]; /* last report of each */
	uint64_t worker_steps[TRAIN_WORKERS_MAX];
};

/* Open the files in dir, which is made. A journal that has no end is read into the coach first. */
int train_record_open(struct train_record *r, const char *dir, const char *id, struct online_controller *c,
		struct sonde_err *err);
void train_record_release(struct train_record *r);

/* A line for the journal: out gets it too, for whoever else wants it. */
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
/* summary.csv, configs.csv and result.json; the text of the last is added to json. */
int train_record_conclude(struct train_record *r, struct online_controller *c, double runtime_s, struct buf *json,
		struct sonde_err *err);

#endif

/*
 * study-report: the results of a study as JSON, CSV and a standalone HTML file.
 */
#ifndef SONDE_TUNE_STUDY_REPORT_H
#define SONDE_TUNE_STUDY_REPORT_H

#include "base/buf.h"
#include "tune/model.h"
#include "tune/study-run.h"

struct tune_report {
	const struct tune_study *study;
	struct tune_optimizer *o;
	const struct tune_outcome *outcome;
	const struct tune_insight *insight;
	bool is_paired;
	bool is_running; /* the study is not finished */
};

void tune_report_json(struct buf *out, const struct tune_report *r); /* one object, one line */
void tune_report_csv(struct buf *out, const struct tune_report *r);  /* one line per trial */
void tune_report_html(struct buf *out, const struct tune_report *r);

/* "1.42 times faster [1.38, 1.46]", worded for the objective; one sentence without a full stop. */
void tune_report_verdict(struct buf *out, const struct tune_report *r);
/* What the best gives up, one line each: choices that differ from the default and have a `gives_up` text. */
size_t tune_report_losses(struct buf *out, const struct tune_report *r, const char *before, const char *after);
bool report_is_on_front(const struct tune_report *r, const struct tune_trial *t); /* on the Pareto front? */
const char *tune_state_word(enum tune_state state);

#endif

/*
 * report: what came of a study, as JSON, CSV and one HTML page that needs nothing else.
 */
#ifndef SONDE_TUNE_STUDY_REPORT_H
#define SONDE_TUNE_STUDY_REPORT_H

#include "base/buf.h"
#include "tune/importance.h"
#include "tune/study-run.h"

struct tune_report {
	const struct tune_study *study;
	struct tune_optimizer *o;
	const struct tune_outcome *outcome;
	const struct tune_insight *insight;
	bool is_paired;
	bool is_running; /* more will come */
};

void tune_report_json(struct buf *out, const struct tune_report *r); /* one object, one line */
void tune_report_csv(struct buf *out, const struct tune_report *r);  /* a line a trial */
void tune_report_html(struct buf *out, const struct tune_report *r);

/* "1.42 times faster [1.38, 1.46]" in words that fit the objective; one sentence without a full stop. */
void tune_report_verdict(struct buf *out, const struct tune_report *r);
/* What the best gives up, a line each: choices that differ from the default and lose something. */
size_t tune_report_losses(struct buf *out, const struct tune_report *r, const char *before, const char *after);
bool report_is_on_front(const struct tune_report *r, const struct tune_trial *t); /* is nothing better in everything? */
const char *tune_state_word(enum tune_state state);

#endif

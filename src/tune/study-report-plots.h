/*
 * study-report-plots: the plots of a study's HTML report, as SVG without scripts.
 */
#ifndef SONDE_TUNE_STUDY_REPORT_PLOTS_H
#define SONDE_TUNE_STUDY_REPORT_PLOTS_H

#include "tune/study-report.h"

bool report_has_value(const struct tune_trial *t);

void report_gain(struct buf *out, const struct tune_report *r); /* ratio of best to default, with interval */
void report_convergence(struct buf *out, const struct tune_report *r,
		struct arena *arena);                                                 /* values, and the best so far */
void report_front(struct buf *out, const struct tune_report *r, struct arena *arena); /* several objectives */
void report_losses_of_steps(struct buf *out, const struct tune_report *r, struct arena *arena); /* trials with steps */
void report_dependence(struct buf *out, const struct tune_report *r, size_t param);

#endif

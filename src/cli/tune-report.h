/*
 * tune-report: the report files of a study, and progress output.
 */
#ifndef SONDE_CLI_TUNE_REPORT_H
#define SONDE_CLI_TUNE_REPORT_H

#include "result/term.h"
#include "tune/study-report.h"

int tune_write_reports(const char *dir, const struct tune_report *r, struct sonde_err *err);

struct tune_shown {
	struct term_progress progress;
	const struct tune_drive *drive;
	const char *dir;
	size_t pairs;
	int64_t told_ns; /* when the result was last written */
};

/* For tune_drive.show, with a tune_shown: progress on the terminal, and the intermediate result for viewers. */
void tune_show(void *shown, const struct tune_trial *trial, const char *why);

#endif

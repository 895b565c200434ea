/*
 * tune-cli: shared by tune and train: report files and text of a study, progress output, the ask and tell protocol,
 * and interruption.
 */
#ifndef SONDE_CLI_TUNE_CLI_H
#define SONDE_CLI_TUNE_CLI_H

#include "result/term.h"
#include "tune/study-report.h"

#include <signal.h>

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

/* Prints the outcome of a study as text to stdout. */
void tune_print(const struct tune_report *r);

/* Serves ask and tell requests on stdin and stdout (tune/protocol.h) until the input ends; dir NULL: no journal. */
int tune_serve(struct tune_optimizer *o, const struct tune_study *study, const char *dir, struct sonde_err *err);

/* The first SIGINT or SIGTERM after interrupt_catch sets interrupt_came; the second has its default action. */
extern volatile sig_atomic_t interrupt_came;
void interrupt_catch(void);

#endif

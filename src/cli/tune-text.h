/*
 * tune-text: prints the outcome of a study as text to stdout.
 */
#ifndef SONDE_CLI_TUNE_TEXT_H
#define SONDE_CLI_TUNE_TEXT_H

#include "tune/study-report.h"

void tune_print(const struct tune_report *r);

#endif

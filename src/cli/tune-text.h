/*
 * The outcome of a study for people, on stdout.
 */
#ifndef SONDE_CLI_TUNE_TEXT_H
#define SONDE_CLI_TUNE_TEXT_H

#include "tune/study-report.h"

void tune_print(const struct tune_report *r);

#endif

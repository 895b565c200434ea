/*
 * selftf-columns: SelfTF's tables. A parameter or setting fills a column if it has one of the
 * column's names.
 */
#ifndef SONDE_TUNE_SELFTF_COLUMNS_H
#define SONDE_TUNE_SELFTF_COLUMNS_H

#include "tune/online-controller.h"
#include "tune/online-protocol.h"

#include <stdio.h>

void train_columns_head(FILE *out);
/* local_step counts the worker's own steps; elapsed_s is the time since its last report. */
void train_columns_iteration(FILE *out, const struct online_controller *c, const struct train_report *report,
		uint64_t local_step, double elapsed_s);
/* The text of the column at a point: "" if the job has no such parameter. */
void train_column(const struct train_plan *plan, const double *point, const char *column, char *text, size_t size);

#endif

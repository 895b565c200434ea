/*
 * import: converts traces of other tools to runs.
 *
 * DFTracer traces (.pfw, .pfw.gz) of all generations, files and directories, are read by several threads, which divide
 * files, gzip members and pieces of text among them. Other tools' files (exchange.h) are read by one thread. Invalid
 * input is counted and reported line by line and loses only itself: the rest becomes a run. Memory stays below 1 GiB
 * for any input.
 */
#ifndef SONDE_EXCHANGE_IMPORT_H
#define SONDE_EXCHANGE_IMPORT_H

#include "exchange/exchange.h"
#include "pfw/import-run.h"

/*
 * format NULL: detected from the content of the first file. 0 if a run was created; -ENODATA, and no run, if the input
 * has no record.
 */
int import_run(const struct exchange_format *format, const struct import_options *o, struct import_result *result,
		struct sonde_err *err);
void import_result_release(struct import_result *r);

#endif

/* import-run: the end of an import: its report, the last tables, run.json. */
#ifndef SONDE_PFW_IMPORT_RUN_H
#define SONDE_PFW_IMPORT_RUN_H

#include "exchange/exchange.h"
#include "exchange/import.h"
#include "pfw/import-pool.h"
#include "store/run-dir.h"
#include "store/sink.h"

struct pfw_import {
	const struct import_options *options;
	struct import_result *result;
	const struct exchange_format *format; /* of the inputs */
	bool has_day_clock;                   /* times are wall-clock times */
	const char *name;                     /* of the run */
	struct pfw_inputs inputs;
	struct store_run run;
	struct store_sink sink;
	struct pfw_dims dims;
	struct pfw_tables tables;
	struct import_pool pool;
};

/* Fills the result, writes the name tables and run.json, and closes the sink. */
int pfw_run_finish(struct pfw_import *im, struct sonde_err *err);

#endif

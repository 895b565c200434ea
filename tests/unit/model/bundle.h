/*
 * bundle: a run made by hand for the tests of model/ and exchange/.
 *
 *	struct bundle b;
 *	bundle_make(&b);
 *	store_sink_add(&b.sink, STORE_TABLE_IO, &row);
 *	run = bundle_open(&b);      closes the sink, writes run.json, opens the run
 *	...
 *	bundle_remove(&b, run);
 */
#ifndef SONDE_TEST_MODEL_BUNDLE_H
#define SONDE_TEST_MODEL_BUNDLE_H

#include "support.h"

#include "model/run-model.h"
#include "store/run-dir.h"
#include "store/sink.h"

struct bundle {
	char dir[64]; /* scratch directory; the runs are in it, and it is the current one */
	struct store_run run;
	struct store_sink sink;
	const char *json; /* text of run.json; NULL: bundle_json */
};

extern const char bundle_json[];

void bundle_make(struct bundle *b);
int64_t bundle_name(struct bundle *b, const char *text); /* id of a string */
/* A file and its path; base STORE_NULL: none. */
void bundle_file(struct bundle *b, int64_t id, int64_t base, const char *name);
struct model_run *bundle_open(struct bundle *b);
void bundle_remove(struct bundle *b, struct model_run *run);

#endif

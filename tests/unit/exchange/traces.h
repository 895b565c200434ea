/*
 * traces: what the tests of reading and writing DFTracer traces share: a scratch
 * directory, imports of texts, and the rows of a run as texts that can be
 * compared: names instead of numbers, in an order of their own.
 */
#ifndef SONDE_TEST_TRACES_H
#define SONDE_TEST_TRACES_H

#include "support.h"

#include "base/buf.h"
#include "exchange/import.h"

struct traces {
	char dir[64]; /* scratch directory, which is the current one */
	unsigned runs;
	struct import_options options; /* for the next imports; paths and dir are set by them */
	struct import_result result;   /* of the last one */
	struct sonde_err err;
	char run[32]; /* the last one */
};

void traces_make(struct traces *t);
void traces_remove(struct traces *t);

void traces_write(const char *path, const void *bytes, size_t n);
void traces_read(const char *path, struct buf *out);
void traces_read_data(const char *name, struct buf *out); /* a file of tests/data */
/* A gzip file whose members hold the texts, which end with NULL. */
void traces_gzip(const char *path, const char *const *members);

/* Make a run of the file, or of a text; returns what import_run does. The run is t->run. */
int traces_import(struct traces *t, const char *path);
int traces_import_text(struct traces *t, const char *text);
/* Write a run as a trace. */
void traces_export(const char *run, const char *format, const char *path);

/* The rows of a run, sorted; of one table, or of all (NULL). */
struct rows {
	char **items;
	size_t count;
};

void rows_read(struct rows *r, const char *run, const char *table);
void rows_release(struct rows *r);
/* Fails and shows the first that differ. */
void rows_same(const struct rows *a, const struct rows *b);
/* The rows of the last import are exactly these; the list ends with NULL. */
void rows_are(struct traces *t, const char *table, const char *const *wanted);

#endif

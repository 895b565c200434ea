/*
 * exchange: runs in other tools' formats.
 *
 * A format is one file with one `const struct exchange_format` and one row in
 * formats.c; doc/howto-add-an-exporter.md shows the way. An exporter reads the
 * run row by row (model/rows.h) and writes as it goes: memory does not grow
 * with the run.
 */
#ifndef SONDE_EXCHANGE_EXCHANGE_H
#define SONDE_EXCHANGE_EXCHANGE_H

#include "base/err.h"
#include "model/run.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct exchange_options {
	bool has_range; /* only events that begin in [from_ns, to_ns) */
	int64_t from_ns;
	int64_t to_ns;
};

struct exchange_format {
	const char *name;      /* the word after --to */
	const char *extension; /* of files, with its dot */
	const char *what;      /* one sentence */
	/* Write the whole run. A stream that fails is an error with errno as it was: -EPIPE when nobody reads. */
	int (*write)(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err);
};

extern const struct exchange_format *const exchange_formats[];
extern const char *const exchange_names[]; /* the same order, NULL at the end */

#endif

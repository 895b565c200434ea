/*
 * exchange: runs in other tools' formats, and other tools' traces as runs.
 *
 * A format is one file with one `const struct exchange_format` and one row in formats.c, which states whether it is
 * written, read or both. The arguments of `sonde export --to` and `sonde import --from`, their help, completion and man
 * pages, and the detection of a file by its content are derived from it; see doc/howto-add-an-exporter.md. An exporter
 * reads the run row by row (model/rows.h) and writes as it reads: memory does not grow with the run.
 */
#ifndef SONDE_EXCHANGE_EXCHANGE_H
#define SONDE_EXCHANGE_EXCHANGE_H

#include "base/err.h"
#include "model/rows.h"
#include "model/run-model.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct exchange_options {
	struct model_rows_opts range; /* only events that start in it */
	enum store_table_id table;    /* for formats that hold one table */
};

struct foreign; /* import-reader.h */

struct exchange_format {
	const char *name;      /* the argument of --to and --from */
	const char *extension; /* of its files, with the dot; NULL: a directory of files */
	const char *what;      /* one sentence */
	bool is_packed;        /* the format is already compressed */
	bool has_table;        /* it holds one table */
	/* Writes the whole run. A stream error is returned with its errno: -EPIPE if the reader has closed the pipe. */
	int (*write)(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err);
	/* Alternative: writes files to a directory. */
	int (*write_files)(struct model_run *run, int dirfd, const struct exchange_options *options,
			struct sonde_err *err);
	/* Returns whether a file that starts with these n bytes, inflated, looks like this format. */
	bool (*is_mine)(const char *head, size_t n);
	/* Reads one file to its end. Invalid input loses only itself (import-reader.h). 0 or -ENOMEM. */
	int (*read)(struct foreign *f);
};

extern const struct exchange_format *const exchange_formats[]; /* formats with a writer */
extern const char *const exchange_names[];                     /* the same order, NULL at the end */
extern const struct exchange_format *const exchange_readers[]; /* formats with a reader, after a NULL for detection */
extern const char *const exchange_reader_names[];              /* the same order, NULL at the end */

#endif

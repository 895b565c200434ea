/*
 * exchange: runs in other tools' formats, and other tools' traces as runs.
 *
 * A format is one file with one `const struct exchange_format` and one row in
 * formats.c, which says whether it is written, read or both; the words of
 * `sonde export --to` and `sonde import --from`, their help, completion and man
 * pages, and what recognises a file by its content come from there.
 * doc/howto-add-an-exporter.md shows the way. An exporter reads the run row by
 * row (model/rows.h) and writes as it goes: memory does not grow with the run.
 */
#ifndef SONDE_EXCHANGE_EXCHANGE_H
#define SONDE_EXCHANGE_EXCHANGE_H

#include "base/err.h"
#include "model/run-model.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct exchange_options {
	bool has_range; /* only events that begin in [from_ns, to_ns) */
	int64_t from_ns;
	int64_t to_ns;
	enum store_table_id table; /* of formats that hold one table */
};

struct foreign; /* import-reader.h */

struct exchange_format {
	const char *name;      /* the word after --to and --from */
	const char *extension; /* of files, with its dot; NULL: it is a directory of files */
	const char *what;      /* one sentence */
	bool is_packed;        /* it is compressed as it is */
	bool has_table;        /* it holds one table */
	/* Write the whole run. A stream that fails is an error with errno as it was: -EPIPE when nobody reads. */
	int (*write)(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err);
	/* Instead of that: files in a directory. */
	int (*write_files)(struct model_run *run, int dirfd, const struct exchange_options *options,
			struct sonde_err *err);
	/* Does a file, inflated, that begins with these n bytes look like one of this format? */
	bool (*is_mine)(const char *head, size_t n);
	/* Read one file to its end; what is wrong with it costs only itself (import-reader.h). 0 or -ENOMEM. */
	int (*read)(struct foreign *f);
};

extern const struct exchange_format *const exchange_formats[]; /* those that are written */
extern const char *const exchange_names[];                     /* the same order, NULL at the end */
extern const struct exchange_format *const exchange_readers[]; /* those that are read, after a NULL: find out */
extern const char *const exchange_reader_names[];              /* the same order, NULL at the end */

#endif

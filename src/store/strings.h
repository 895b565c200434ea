/*
 * strings: texts that rows refer to by number.
 *
 * Writing: store_strings assigns equal texts the same id, from 1, and writes each to the table `string` once. Ids are
 * valid within one run. 0 is never assigned: some callers use it as "none"; columns hold STORE_NULL instead. Reading:
 * store_names holds a whole `string` table, id to text.
 */
#ifndef SONDE_STORE_STRINGS_H
#define SONDE_STORE_STRINGS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "store/schema.h"

#include <stddef.h>
#include <stdint.h>

struct store_strings {
	/* private */
	struct map ids;
	struct store_writer *writer;
	struct sonde_err err;
	int failed;
};

/* Create string.tbl in dirfd. */
int store_strings_open(struct store_strings *s, int dirfd, struct sonde_err *err);
/* The id of these bytes; 0 if out of memory. Does not report write failures: the next flush or close does. */
int64_t store_strings_id(struct store_strings *s, const char *bytes, size_t n);
int64_t store_strings_of(struct store_strings *s, const char *text); /* NULL: STORE_NULL */
size_t store_strings_count(const struct store_strings *s);
int store_strings_flush(struct store_strings *s, struct sonde_err *err);
int store_strings_close(struct store_strings *s, struct sonde_err *err); /* frees the contents, even on failure */

struct store_names {
	/* private */
	size_t count; /* size of texts */
	struct store_text *texts;
	struct arena arena;
};

/* Read string.tbl; ids lost by damage have no text. */
int store_names_open(struct store_names *n, int dirfd, struct sonde_err *err);
void store_names_release(struct store_names *n);
/* The text of id (also NUL-terminated), or NULL if it is STORE_NULL, unknown or lost. */
const struct store_text *store_names_get(const struct store_names *n, int64_t id);

#endif

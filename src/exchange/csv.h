/*
 * csv: rows of comma-separated values (RFC 4180): texts in quotes where they
 * need them, lines that end in a newline alone, nothing for what is null.
 */
#ifndef SONDE_EXCHANGE_CSV_H
#define SONDE_EXCHANGE_CSV_H

#include "base/buf.h"
#include "store/schema.h"

#include <stdio.h>

struct csv {
	FILE *out;
	int error; /* the first, a negative errno */
	/* private */
	struct buf line;
	bool has_cells;
};

#define CSV_INIT(stream) \
	{ \
		.out = stream, .line = BUF_INIT \
	}

void csv_release(struct csv *c);
void csv_int(struct csv *c, int64_t v);                   /* STORE_NULL: nothing */
void csv_real(struct csv *c, double v);                   /* shortest that reads back the same; NaN: nothing */
void csv_fixed(struct csv *c, double v);                  /* with six decimals */
void csv_text(struct csv *c, const char *text, size_t n); /* text NULL: nothing */
void csv_str(struct csv *c, const char *text);
void csv_end(struct csv *c); /* of the line */

#endif

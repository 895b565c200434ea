/*
 * csv: writes rows of comma-separated values (RFC 4180): texts are quoted if necessary, lines end in LF, nulls are
 * empty.
 */
#ifndef SONDE_EXCHANGE_CSV_H
#define SONDE_EXCHANGE_CSV_H

#include "base/buf.h"
#include "store/schema.h"

#include <stdio.h>

struct csv {
	FILE *out;
	int error; /* the first error, -errno */
	/* private */
	struct buf line;
	bool has_cells;
};

#define CSV_INIT(stream) \
	{ \
		.out = stream, .line = BUF_INIT \
	}

void csv_release(struct csv *c);
void csv_int(struct csv *c, int64_t v);                   /* STORE_NULL: empty */
void csv_real(struct csv *c, double v);                   /* shortest text that reads back the same; NaN: empty */
void csv_fixed(struct csv *c, double v);                  /* with six decimals */
void csv_text(struct csv *c, const char *text, size_t n); /* text NULL: empty */
void csv_str(struct csv *c, const char *text);
void csv_end(struct csv *c); /* ends the line */

#endif

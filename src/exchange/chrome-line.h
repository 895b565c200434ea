/*
 * chrome-line: writes the events of a Chrome trace one by one. Private to chrome.c.
 *
 * chrome_start opens an event, the others add to it, chrome_end closes it.
 */
#ifndef SONDE_EXCHANGE_CHROME_LINE_H
#define SONDE_EXCHANGE_CHROME_LINE_H

#include "exchange/jsonline.h"

#include <stdio.h>

struct chrome_line {
	FILE *out;
	struct jsonline line;
	int error; /* the first error, -errno */
	/* private */
	bool has_events;
	bool has_args;
};

/* Writes text that is not an event. */
void chrome_raw(struct chrome_line *c, const char *text);
/* name NULL: "?"; category NULL: none; null ids: 0. */
void chrome_start(struct chrome_line *c, const char *phase, int64_t pid, int64_t tid, const struct store_text *name,
		const struct store_text *category);
/* Keys are written verbatim, with comma, quotes and colon: `,"ts":`. */
void chrome_time(struct chrome_line *c, const char *key, int64_t ns);
void chrome_int(struct chrome_line *c, const char *key, int64_t value);
/* Arguments; nulls are omitted. */
void chrome_arg_int(struct chrome_line *c, const char *name, int64_t value);
void chrome_arg_real(struct chrome_line *c, const char *name, double value);
void chrome_arg_text(struct chrome_line *c, const char *name, const struct store_text *text);
void chrome_arg_str(struct chrome_line *c, const char *name, const char *text);
/* Writes all members of a JSON object. */
void chrome_args(struct chrome_line *c, const struct store_text *object);
void chrome_end(struct chrome_line *c);

#endif

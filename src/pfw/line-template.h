/*
 * line-template: the fast path for lines that resemble earlier ones.
 *
 * The lines of a trace follow few templates (struct shape): the same fields in the same order, with other numbers. A
 * template is learned from each new line that the general parser (line-parse.h, event-parse.h) converted to a row: the
 * constant bytes, and between them slots, each with the column or text its value is stored in. A matching line is read
 * by comparing the constant text and converting the values with SIMD, in one pass and without searching the end of the
 * line first.
 *
 * A template matches a line only if the general parser would produce the same row. Anything unusual (an escape, a
 * number of 17 digits, a value out of range) does not match, and the general parser reads the line. Templates cache the
 * last process, thread and file, and look them up again only if the text differs.
 *
 * Without AVX2 templates are disabled, and the general parser reads all lines.
 */
#ifndef SONDE_PFW_LINE_TEMPLATE_H
#define SONDE_PFW_LINE_TEMPLATE_H

#include "pfw/event-parse.h"
#include "pfw/import-cache.h"

#include <stdbool.h>
#include <stddef.h>

#define PFW_PADDING 128 /* readable bytes required after a text */

struct pfw_shapes;

/* The row of a matched line; valid until the next match. */
struct pfw_match {
	const char *end;           /* after the line's newline */
	enum store_table_id table; /* io or span */
	const void *row;
	size_t text_bytes;
	struct pfw_thread *thread; /* NULL: out of room */
	int64_t ts_ns, dur_ns;
};

bool pfw_shapes_work(void); /* whether this machine supports it */
int pfw_shapes_open(struct pfw_shapes **out, struct pfw_cache *cache);
void pfw_shapes_free(struct pfw_shapes *s); /* accepts NULL */
/* Templates depend on the time unit and the default host of an input: call when they change. */
void pfw_shapes_context(struct pfw_shapes *s, const struct pfw_context *ctx);
/* Matches the line at `at`. The text must end in a newline, followed by PFW_PADDING readable bytes. */
bool pfw_shapes_match(struct pfw_shapes *s, const char *at, struct pfw_match *match);
/* Learns from a line that became an event; n includes the newline. Unsuitable lines are ignored. */
void pfw_shapes_learn(struct pfw_shapes *s, const char *at, size_t n, const struct pfw_line *line,
		const struct pfw_event *e);

#endif

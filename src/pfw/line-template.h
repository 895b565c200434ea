/*
 * pfw-shape: reading lines that look like those before.
 *
 * The lines of a trace have few shapes: the same fields in the same order, with
 * other numbers. From each new line that the general scanner (line-parse.h,
 * event-parse.h) has made a row of, a shape is learnt: the bytes that stay, and
 * between them slots, each with the column or text its value goes to. A line
 * is then read by comparing what stays and converting what does not, with wide
 * registers, in one pass and without looking for the end of the line first.
 *
 * A shape takes a line only when the general scanner would make the same row of
 * it; whatever is unusual (an escape, a number of 17 digits, a value out of
 * its range) it refuses, and the general scanner reads the line. Shapes keep
 * what they found last for process, thread and file, and look again only when
 * the text differs.
 *
 * On machines without AVX2 there are no shapes, and all lines are read by the
 * general scanner.
 */
#ifndef SONDE_PFW_LINE_TEMPLATE_H
#define SONDE_PFW_LINE_TEMPLATE_H

#include "pfw/event-parse.h"
#include "pfw/import-cache.h"

#include <stdbool.h>
#include <stddef.h>

#define PFW_PADDING 128 /* bytes behind a text that may be read, whatever they are */

struct pfw_shapes;

/* What a shape made of a line; valid until the next. */
struct pfw_match {
	const char *end;           /* behind the line's newline */
	enum store_table_id table; /* io or span */
	const void *row;
	size_t text_bytes;
	struct pfw_thread *thread; /* NULL: no room for it */
	int64_t ts_ns, dur_ns;
};

bool pfw_shapes_work(void); /* on this machine */
int pfw_shapes_open(struct pfw_shapes **out, struct pfw_cache *cache);
void pfw_shapes_free(struct pfw_shapes *s); /* NULL is fine */
/* Shapes know the unit of times and the default host of an input: call when they change. */
void pfw_shapes_context(struct pfw_shapes *s, const struct pfw_context *ctx);
/* Read the line at `at`. The text must end in a newline, and PFW_PADDING bytes more be readable. */
bool pfw_shapes_match(struct pfw_shapes *s, const char *at, struct pfw_match *match);
/* Learn from a line that became an event; n includes the newline. Lines that cannot be learnt from are passed over. */
void pfw_shapes_learn(struct pfw_shapes *s, const char *at, size_t n, const struct pfw_line *line,
		const struct pfw_event *e);

#endif

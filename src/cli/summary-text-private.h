/*
 * summary-text-private: shared by summary-text*.c only.
 */
#ifndef SONDE_CLI_SUMMARY_TEXT_PRIVATE_H
#define SONDE_CLI_SUMMARY_TEXT_PRIVATE_H

#include "cli/summary-text.h"

struct summary_page {
	struct buf *out;
	const struct term *term;
	int64_t wall_ns; /* STORE_NULL: unknown */
};

/* Appends a value formatted by its unit; external text is sanitized. */
void summary_add_value(struct buf *out, enum analyze_unit unit, const struct analyze_value *v);
/* Appends title and value, with a comma if the line is not empty, and the percentage if it can be a share of the
 * wall time: "I/O 39.3 s (69 %)". */
void summary_add_field(const struct summary_page *p, struct buf *line, const struct analyze_field *f);
/* Writes all known fields of a section that have a title, as a paragraph. */
void summary_add_fields(const struct summary_page *p, const struct analyze_section *s);
/* Truncates text longer than most: ends with "..." or, for a path, begins with it. */
void summary_cut(struct buf *text, size_t most);
void summary_add_heading(const struct summary_page *p, const char *title);

/* The two forms, after the fields of the overview. */
int summary_write_brief(const struct summary_page *p, const struct analyze_result *r);
int summary_write_full(const struct summary_page *p, const struct analyze_result *r);

#endif

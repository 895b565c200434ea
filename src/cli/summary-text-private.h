/*
 * What the forms of a summary on paper share. Private to cli/summary*.c.
 */
#ifndef SONDE_CLI_SUMMARY_TEXT_PRIVATE_H
#define SONDE_CLI_SUMMARY_TEXT_PRIVATE_H

#include "cli/summary-text.h"

struct summary_page {
	struct buf *out;
	const struct term *term;
	int64_t wall_ns; /* STORE_NULL: not known */
};

/* A value as its unit wants it; what is from outside is made safe. */
void summary_add_value(struct buf *out, enum analyze_unit unit, const struct analyze_value *v);
/* Title and value, after a comma when the line has something already, and its share where it can be a part of the wall
 * time: "I/O 39.3 s (69 %)". */
void summary_add_field(const struct summary_page *p, struct buf *line, const struct analyze_field *f);
/* All fields of a section that are for people and known, as a paragraph. */
void summary_add_fields(const struct summary_page *p, const struct analyze_section *s);
/* Text longer than most ends in "..." or, being a path, begins with it. */
void summary_cut(struct buf *text, size_t most);
void summary_add_heading(const struct summary_page *p, const char *title);

/* The two forms, after the fields of the overview. */
int summary_write_brief(const struct summary_page *p, const struct analyze_result *r);
int summary_write_full(const struct summary_page *p, const struct analyze_result *r);

#endif

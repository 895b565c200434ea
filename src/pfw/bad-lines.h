/*
 * bad-lines: the lines that an import could not read, until their line numbers are known.
 *
 * Threads find them in any order. The first few of each part are kept, so the report does not depend on how the work
 * was divided. Further lines are only counted, by the workers. The functions do not lock.
 */
#ifndef SONDE_PFW_BAD_LINES_H
#define SONDE_PFW_BAD_LINES_H

#include "pfw/import-part.h"

/* Pseudo pieces of a single line: the line joined at a part's start, and the one at the end of the file. */
#define PFW_FIRST_LINE (SIZE_MAX - 1)
#define PFW_LAST_LINE SIZE_MAX

struct pfw_lost_line {
	const struct pfw_part *part;
	size_t piece;
	uint64_t line; /* index within the piece */
	const char *reason;
	size_t where;
	size_t bytes;   /* length of the whole line */
	char text[100]; /* the first bytes of the line */
};

struct pfw_lost {
	struct pfw_lost_line *lines; /* the first lines of each part, unsorted */
	size_t count;
	/* private */
	size_t cap;
};

/* `text` is the whole line, or NULL if it was not kept. */
void pfw_lost_add(struct pfw_lost *l, const struct pfw_lost_line *line, const char *text);
/* Sorts the lines in input order. */
void pfw_lost_sort(struct pfw_lost *l);
/* The line number in its file, from 1. Call after all parts are read. */
uint64_t pfw_lost_number(const struct pfw_lost_line *line);
void pfw_lost_release(struct pfw_lost *l);

#endif

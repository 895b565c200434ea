/*
 * pfw-lost: the lines that an import has lost, until it is known which of their file they are.
 *
 * Threads meet them in any order. Of each part the first few are kept, so that what is told does not depend on
 * how the work was shared; lines beyond that are only counted, elsewhere. Nothing here locks.
 */
#ifndef SONDE_PFW_BAD_LINES_H
#define SONDE_PFW_BAD_LINES_H

#include "pfw/import-part.h"

/* "Pieces" that are one line: what was sewn together at a part's beginning, and at the end of the file. */
#define PFW_FIRST_LINE (SIZE_MAX - 1)
#define PFW_LAST_LINE SIZE_MAX

struct pfw_lost_line {
	const struct pfw_part *part;
	size_t piece;
	uint64_t line; /* in the piece */
	const char *reason;
	size_t where;
	size_t bytes;   /* of the whole line */
	char text[100]; /* its beginning */
};

struct pfw_lost {
	struct pfw_lost_line *lines; /* the first of each part, in no order */
	size_t count;
	/* private */
	size_t cap;
};

/* `text` is the whole line; NULL: nobody has it. */
void pfw_lost_add(struct pfw_lost *l, const struct pfw_lost_line *line, const char *text);
/* As they come in the input. */
void pfw_lost_sort(struct pfw_lost *l);
/* The number of a line in its file, from 1; when all parts are read. */
uint64_t pfw_lost_number(const struct pfw_lost_line *line);
void pfw_lost_release(struct pfw_lost *l);

#endif

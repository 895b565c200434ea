#include "pfw/bad-lines.h"

#include <stdlib.h>

#define PART_LINES_MAX 10
#define LINES_MAX 1000 /* over all parts */

/* The piece number, from 1; the line joined at the start of the part sorts before the first piece. */
static size_t place_of(const struct pfw_lost_line *line)
{
	return line->piece == PFW_FIRST_LINE ? 0 : line->piece == PFW_LAST_LINE ? SIZE_MAX : line->piece + 1;
}

static int order(const void *a, const void *b)
{
	const struct pfw_lost_line *left = a, *right = b;

	if (left->part != right->part)
		return left->part < right->part ? -1 : 1;
	if (left->piece != right->piece)
		return place_of(left) < place_of(right) ? -1 : 1;
	return (left->line > right->line) - (left->line < right->line);
}

/* The entry for another line of this part: a new one, or the last kept one if this line precedes it. */
static struct pfw_lost_line *place_for(struct pfw_lost *l, const struct pfw_lost_line *line)
{
	struct pfw_lost_line *last = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct pfw_lost_line *other = &l->lines[i];

		if (other->part != line->part)
			continue;
		kept++;
		if (!last || order(last, other) < 0)
			last = other;
	}
	if (kept >= PART_LINES_MAX)
		return order(line, last) < 0 ? last : NULL;
	if (l->count == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		struct pfw_lost_line *grown = reallocarray(l->lines, cap, sizeof(*grown));

		if (!grown)
			return NULL;
		l->lines = grown;
		l->cap = cap;
	}
	return &l->lines[l->count++];
}

void pfw_lost_add(struct pfw_lost *l, const struct pfw_lost_line *line, const char *text)
{
	struct pfw_lost_line *place = l->count < LINES_MAX ? place_for(l, line) : NULL;

	if (!place)
		return;
	*place = *line;
	for (size_t i = 0; text && i < line->bytes && i < sizeof(place->text) - 1; i++)
		place->text[i] = text[i] ? text[i] : ' ';
}

void pfw_lost_sort(struct pfw_lost *l)
{
	if (l->count)
		qsort(l->lines, l->count, sizeof(*l->lines), order);
}

/* Counts the lines of a part's head and its first `pieces` pieces. */
static uint64_t lines_of(const struct pfw_part *p, size_t pieces)
{
	/* A line that ends in the head is counted in the part where it ends. */
	uint64_t lines = p->index > 0 && p->input->is_gzip && p->has_newline;

	for (size_t i = 0; i < pieces && i < p->piece_count && i < p->piece_room; i++)
		lines += p->piece_lines[i];
	return lines;
}

uint64_t pfw_lost_number(const struct pfw_lost_line *line)
{
	const struct pfw_part *part = line->part;
	uint64_t lines = 0;

	for (const struct pfw_part *p = part - part->index; p < part; p++)
		lines += lines_of(p, SIZE_MAX);
	if (line->piece == PFW_FIRST_LINE)
		return lines + 1;
	lines += lines_of(part, line->piece);
	return line->piece == PFW_LAST_LINE ? lines + 1 : lines + line->line + 1;
}

void pfw_lost_release(struct pfw_lost *l)
{
	free(l->lines);
	*l = (struct pfw_lost){ 0 };
}

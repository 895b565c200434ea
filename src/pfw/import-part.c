#include "pfw/import-part.h"

#include "base/cleanup.h"
#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	if (!VEC_GROW(l->lines, l->cap, l->count + 1, LINES_MAX))
		return NULL;
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

#define REST_BYTES 4096 /* up to this many bytes of a partial line are copied into the next piece */

struct pfw_piece *pfw_piece_new(size_t cap)
{
	struct pfw_piece *piece = calloc(1, sizeof(*piece));

	if (!piece)
		return NULL;
	piece->text = malloc(cap + PFW_PADDING);
	piece->cap = cap;
	if (!piece->text) {
		free(piece);
		return NULL;
	}
	memset(piece->text + cap, 0, PFW_PADDING);
	return piece;
}

void pfw_piece_free(struct pfw_piece *piece)
{
	if (!piece)
		return;
	free(piece->text);
	free(piece);
}

void pfw_part_release(struct pfw_part *p)
{
	free(p->piece_lines);
	buf_release(&p->head);
	buf_release(&p->tail);
}

bool pfw_part_describe(const struct pfw_part *p, char *text, size_t size)
{
	if (p->error)
		snprintf(text, size, "read error: %s", strerror(p->error));
	else if (p->input->bytes == 0)
		snprintf(text, size, "empty file");
	else if (p->status == PFW_GZIP_CUT)
		snprintf(text, size, "truncated: unexpected end of the gzip member at byte %" PRIu64, p->where);
	else if (p->status == PFW_GZIP_DAMAGED)
		snprintf(text, size, "damaged before byte %" PRIu64, p->where);
	else if (p->status == PFW_GZIP_JUNK)
		snprintf(text, size, "not in gzip format from byte %" PRIu64 " on", p->where);
	else
		return false;
	return true;
}

/* The bytes of the current piece: text[0..len). */
struct reader {
	struct pfw_part *part;
	const struct pfw_part_ops *ops;
	struct pfw_piece *piece;
	size_t len;
	size_t looked;    /* no newline before this offset */
	bool is_skipping; /* inside a line that is too long */
	bool wants_head;  /* the bytes before the first newline are the head */
	bool drops_head;  /* ... and belong to the previous part */
	bool has_long;    /* holds the lock for long lines */
};

/* Before allocating a piece of that size: waits until no other reader has one that long. */
static void want_long(struct reader *r, size_t cap)
{
	if (cap <= PFW_LONG_BYTES || r->has_long || !r->ops->long_lock)
		return;
	pthread_mutex_lock(r->ops->long_lock);
	r->has_long = true;
}

static void end_long(struct reader *r)
{
	if (!r->has_long || (r->piece && r->piece->cap > PFW_LONG_BYTES))
		return;
	r->has_long = false;
	pthread_mutex_unlock(r->ops->long_lock);
}

static int fail(struct reader *r, int error)
{
	r->part->error = error;
	return -error;
}

/* Makes room for more text in the piece. */
static int make_room(struct reader *r)
{
	size_t cap = r->piece ? 2 * r->piece->cap : PFW_PIECE_BYTES;

	if (r->piece && r->len + PFW_PIECE_BYTES / 2 <= r->piece->cap)
		return 0;
	want_long(r, cap);
	struct pfw_piece *grown = pfw_piece_new(cap);
	if (!grown)
		return fail(r, ENOMEM);
	if (r->piece)
		memcpy(grown->text, r->piece->text, r->len);
	pfw_piece_free(r->piece);
	r->piece = grown;
	return 0;
}

/* text[from..to) are whole lines: passes them on and keeps the rest. */
static int emit(struct reader *r, size_t from, size_t to)
{
	struct pfw_piece *piece = r->piece, *next;
	size_t left = r->len - to, cap = left > PFW_PIECE_BYTES / 2 ? 2 * left : PFW_PIECE_BYTES;
	char rest[REST_BYTES];
	bool is_small = left <= sizeof(rest);

	/* A long rest moves to a new piece before the current one is passed on. */
	if (!is_small)
		want_long(r, cap);
	next = is_small ? NULL : pfw_piece_new(cap);
	if (!is_small && !next)
		return fail(r, ENOMEM);
	memcpy(is_small ? rest : next->text, piece->text + to, left);
	piece->part = r->part;
	piece->number = r->part->piece_count++;
	piece->from = from;
	piece->to = to;
	r->piece = r->ops->take(r->ops->arg, piece);
	if (!is_small || (r->piece && r->piece->cap > PFW_LONG_BYTES)) {
		pfw_piece_free(r->piece);
		r->piece = next ? next : pfw_piece_new(PFW_PIECE_BYTES);
	}
	end_long(r);
	if (!r->piece)
		return fail(r, ENOMEM);
	if (is_small)
		memcpy(r->piece->text, rest, left);
	r->len = left;
	r->looked = left;
	return 0;
}

/* Keeps the bytes of a line that continues in another part. Without room for them the input must not be split. */
static void keep(struct reader *r, struct buf *seam, const char *bytes, size_t n)
{
	if (atomic_fetch_add(r->ops->seam_bytes, n) + n <= PFW_SEAM_BYTES_MAX) {
		buf_add(seam, bytes, n);
		return;
	}
	atomic_fetch_sub(r->ops->seam_bytes, n);
	r->part->is_misplit = true;
}

static void skip_line(struct reader *r)
{
	r->ops->skip(r->ops->arg, r->part, r->part->piece_count++);
	r->is_skipping = false;
}

/* The text up to the first newline is a line of another part, a partial line, or a line that is too long. */
static void drop_first(struct reader *r, size_t newline)
{
	if (r->wants_head && r->is_skipping)
		r->part->is_head_lost = !r->drops_head;
	else if (r->is_skipping)
		skip_line(r);
	else if (!r->drops_head)
		keep(r, &r->part->head, r->piece->text, newline);
	r->is_skipping = r->wants_head = false;
}

/* Handles lines up to `end`, after a newline. They may follow a head, or the end of a skipped line. */
static int pass_lines(struct reader *r, size_t end)
{
	size_t from = 0;

	if (r->wants_head || r->is_skipping) {
		size_t newline = (size_t)((char *)memchr(r->piece->text, '\n', end) - r->piece->text);

		drop_first(r, newline);
		from = newline + 1;
	}
	r->part->has_newline = true;
	if (from < end)
		return emit(r, from, end);
	r->len -= end;
	memmove(r->piece->text, r->piece->text + end, r->len);
	r->looked = r->len;
	return 0;
}

/* Handles the bytes added after `looked`. */
static int read_bytes(struct reader *r)
{
	const char *text = r->piece->text;
	const char *newline = memrchr(text + r->looked, '\n', r->len - r->looked);

	if (newline)
		return pass_lines(r, (size_t)(newline - text) + 1);
	if (r->is_skipping)
		r->len = 0;
	if (r->len > PFW_LINE_BYTES_MAX) {
		r->is_skipping = true;
		r->len = 0;
	}
	r->looked = r->len;
	return 0;
}

/* Adds a newline to a last line without one. */
static int finish_lines(struct reader *r)
{
	if (r->is_skipping && !r->drops_head)
		skip_line(r);
	if (!r->len || (r->wants_head && r->drops_head))
		return 0;
	r->piece->text[r->len++] = '\n';
	return pass_lines(r, r->len);
}

/* Plain text. */

/*
 * Finds the newline that ends the part's last line; `at` is the file offset of the text's end. Returns the line's end
 * in the piece, or 0.
 */
static size_t last_line_end(const struct reader *r, uint64_t at)
{
	uint64_t begin = at - r->len, to = r->part->to;

	if (at < to)
		return 0;
	size_t skip = to - 1 > begin ? (size_t)(to - 1 - begin) : 0;
	const char *newline = memchr(r->piece->text + skip, '\n', r->len - skip);
	return newline ? (size_t)(newline - r->piece->text) + 1 : 0;
}

static int read_text(struct reader *r, int fd)
{
	uint64_t at = r->part->from ? r->part->from - 1 : 0;

	r->wants_head = r->drops_head = r->part->from > 0;
	for (;;) {
		if (make_room(r) < 0)
			return -ENOMEM;
		ssize_t n = TEMP_FAILURE_RETRY(
				pread(fd, r->piece->text + r->len, r->piece->cap - r->len - 1, (off_t)at));
		if (n < 0)
			return fail(r, errno);
		if (n == 0)
			return finish_lines(r);
		at += (uint64_t)n;
		r->len += (size_t)n;
		r->part->text_bytes += (uint64_t)n;
		size_t end = last_line_end(r, at);
		if (end) {
			r->len = end;
			return pass_lines(r, end);
		}
		if (read_bytes(r) < 0)
			return -ENOMEM;
	}
}

/* Gzip members. */

/* At the end of a member: returns whether the next part starts here, or should have started before. */
static bool is_at_end(struct pfw_part *p, const struct pfw_gzip *g)
{
	uint64_t at = pfw_gzip_position(g);

	p->is_misplit |= at > p->to;
	return at >= p->to;
}

static int read_members(struct reader *r, struct pfw_gzip *g)
{
	struct pfw_part *p = r->part;

	do {
		size_t n;

		if (make_room(r) < 0)
			return -ENOMEM;
		p->status = pfw_gzip_read(g, r->piece->text + r->len, r->piece->cap - r->len - 1, &n);
		r->len += n;
		p->text_bytes += n;
		if (n && read_bytes(r) < 0)
			return -ENOMEM;
		p->members += p->status == PFW_GZIP_MEMBER;
		if (p->status == PFW_GZIP_MEMBER && is_at_end(p, g))
			return 0;
	} while (p->status == PFW_GZIP_MORE || p->status == PFW_GZIP_MEMBER);
	p->error = p->status == PFW_GZIP_FAILED ? pfw_gzip_error(g) : 0;
	p->where = pfw_gzip_position(g);
	/* The inflater reads a few bytes ahead. */
	p->is_misplit |= p->to < UINT64_MAX && p->where > p->to + 16;
	return 0;
}

/* A single part has no tail; others keep the text after the last newline. */
static int finish_members(struct reader *r)
{
	bool is_only = r->part->index == 0 && r->part->to == UINT64_MAX;

	if (is_only)
		return finish_lines(r);
	if (r->is_skipping && r->wants_head)
		r->part->is_head_lost = true;
	else if (r->is_skipping)
		r->part->is_tail_lost = true;
	else
		keep(r, r->wants_head ? &r->part->head : &r->part->tail, r->piece->text, r->len);
	return 0;
}

static int read_gzip(struct reader *r, int fd)
{
	struct pfw_gzip *g;
	int rc = pfw_gzip_open(&g, fd, r->part->from);

	if (rc < 0)
		return fail(r, -rc);
	r->wants_head = r->part->index > 0;
	rc = read_members(r, g);
	pfw_gzip_free(g);
	return rc < 0 || !r->piece ? rc : finish_members(r);
}

void pfw_part_read(struct pfw_part *p, const struct pfw_part_ops *ops)
{
	struct reader r = { .part = p, .ops = ops };
	CLEANUP(cleanup_fd) int fd = pfw_input_open(p->input);

	buf_init(&p->head, PFW_SEAM_BYTES_MAX);
	buf_init(&p->tail, PFW_SEAM_BYTES_MAX);
	p->status = PFW_GZIP_END;
	if (fd < 0)
		p->error = -fd;
	else if (p->input->is_gzip)
		read_gzip(&r, fd);
	else
		read_text(&r, fd);
	pfw_piece_free(r.piece);
	r.piece = NULL;
	end_long(&r);
}

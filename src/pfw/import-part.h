/*
 * pfw-part: a part of a trace file, read as pieces of whole lines.
 *
 * A text is cut anywhere: a part has the lines that begin in it. A gzip file is
 * cut between members, which need not end where lines do: what precedes the
 * first newline of a part (`head`) and what follows its last (`tail`) are kept
 * for who has all parts. Lines above PFW_LINE_BYTES_MAX are passed over.
 */
#ifndef SONDE_PFW_IMPORT_PART_H
#define SONDE_PFW_IMPORT_PART_H

#include "pfw/gzip-read.h"
#include "pfw/import-input.h"
#include "pfw/line-template.h"

#include <pthread.h>
#include <stdatomic.h>

#define PFW_PIECE_BYTES ((size_t)256 << 10)
#define PFW_SEAM_BYTES_MAX ((size_t)64 << 20) /* of the heads and tails that are kept at a time */

struct pfw_part;

/* Whole lines, and room behind them that may be read. */
struct pfw_piece {
	struct pfw_part *part;
	size_t number;   /* among the pieces of the part */
	size_t from, to; /* the lines: text[from..to) */
	size_t cap;      /* without PFW_PADDING */
	char *text;
};

struct pfw_part {
	struct pfw_input *input;
	size_t index;      /* in its input */
	uint64_t from, to; /* offsets in the file; to UINT64_MAX: its end */
	/* the outcome */
	size_t piece_count;
	uint32_t *piece_lines; /* lines of each piece; for who counts them, as is the room for them */
	size_t piece_room;
	uint64_t text_bytes;
	uint64_t members; /* that were read to their end */
	bool is_misplit;  /* a member reached over `to`, so what begins there is none; or a seam found no room */
	enum pfw_gzip_status status;
	int error;
	uint64_t where;                  /* in the file, when it is damaged */
	bool is_done;                    /* for who has all parts */
	bool has_newline;                /* head and tail are parts of different lines */
	bool is_head_lost, is_tail_lost; /* of a line that is too long */
	struct buf head, tail;
};

/* What becomes of pieces. */
struct pfw_part_ops {
	/* Takes the piece and returns one to go on with: itself, when it is done with it. NULL: out of memory. */
	struct pfw_piece *(*take)(void *arg, struct pfw_piece *piece);
	/* A line that is too long was passed over, in the place of a piece. */
	void (*skip)(void *arg, struct pfw_part *part, size_t number);
	void *arg;
	atomic_size_t *seam_bytes; /* in use by heads and tails */
	/* Held by who has a piece above PFW_LONG_BYTES, so that memory is bounded; NULL: there is one reader only. */
	pthread_mutex_t *long_lock;
};

struct pfw_piece *pfw_piece_new(size_t cap);
void pfw_piece_free(struct pfw_piece *piece); /* NULL is fine */

/* Read the part; p's outcome tells how it went. */
void pfw_part_read(struct pfw_part *p, const struct pfw_part_ops *ops);
void pfw_part_release(struct pfw_part *p);
/* What is wrong with it as a whole, one sentence without a full stop; false: nothing. */
bool pfw_part_describe(const struct pfw_part *p, char *text, size_t size);

#endif

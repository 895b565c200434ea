/*
 * import-part: a part of a trace file, read in pieces of whole lines.
 *
 * A plain text is split anywhere: a part has the lines that start in it. A gzip file is split between members, which
 * need not end at a newline: the bytes before the first newline of a part (`head`) and after its last (`tail`) are kept
 * for the code that joins the parts. Lines above PFW_LINE_BYTES_MAX are skipped.
 */
#ifndef SONDE_PFW_IMPORT_PART_H
#define SONDE_PFW_IMPORT_PART_H

#include "pfw/gzip-read.h"
#include "pfw/import-input.h"
#include "pfw/line-template.h"

#include <pthread.h>
#include <stdatomic.h>

#define PFW_PIECE_BYTES ((size_t)256 << 10)
#define PFW_SEAM_BYTES_MAX ((size_t)64 << 20) /* limit for all heads and tails in memory */

struct pfw_part;

/* Whole lines, followed by readable padding. */
struct pfw_piece {
	struct pfw_part *part;
	size_t number;   /* index within the part */
	size_t from, to; /* the lines: text[from..to) */
	size_t cap;      /* without PFW_PADDING */
	char *text;
};

struct pfw_part {
	struct pfw_input *input;
	size_t index;      /* index within its input */
	uint64_t from, to; /* file offsets; to UINT64_MAX: the end of the file */
	/* results */
	size_t piece_count;
	uint32_t *piece_lines; /* lines of each piece; allocated and filled by import-pool.c */
	size_t piece_room;
	uint64_t text_bytes;
	uint64_t members; /* number of members read to their end */
	bool is_misplit;  /* a member extends past `to`, so none starts there; or there was no room for a seam */
	enum pfw_gzip_status status;
	int error;
	uint64_t where;                  /* file offset of the damage */
	bool is_done;                    /* used by import-pool.c */
	bool has_newline;                /* head and tail belong to different lines */
	bool is_head_lost, is_tail_lost; /* part of a line that is too long */
	struct buf head, tail;
};

/* Callbacks for the pieces. */
struct pfw_part_ops {
	/* Takes ownership of the piece and returns one to continue with, possibly the same. NULL: out of memory. */
	struct pfw_piece *(*take)(void *arg, struct pfw_piece *piece);
	/* Reports a skipped line that was too long; it has a piece number. */
	void (*skip)(void *arg, struct pfw_part *part, size_t number);
	void *arg;
	atomic_size_t *seam_bytes; /* memory used by heads and tails */
	/* Held by the reader of a piece above PFW_LONG_BYTES, to bound memory; NULL if there is only one reader. */
	pthread_mutex_t *long_lock;
};

struct pfw_piece *pfw_piece_new(size_t cap);
void pfw_piece_free(struct pfw_piece *piece); /* accepts NULL */

/* Reads the part; the result is in p. */
void pfw_part_read(struct pfw_part *p, const struct pfw_part_ops *ops);
void pfw_part_release(struct pfw_part *p);
/* Formats what is wrong with the part as a whole, one sentence without a full stop; returns false if nothing is. */
bool pfw_part_describe(const struct pfw_part *p, char *text, size_t size);

#endif

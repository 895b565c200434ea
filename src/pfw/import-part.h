/*
 * import-part: a part of a trace file, read in pieces of whole lines.
 *
 * A plain text is split anywhere: a part has the lines that start in it. A gzip file is split between members, which
 * need not end at a newline: the bytes before the first newline of a part (`head`) and after its last (`tail`) are kept
 * for the code that joins the parts. Lines above PFW_LINE_BYTES_MAX are skipped.
 */
#ifndef SONDE_PFW_IMPORT_PART_H
#define SONDE_PFW_IMPORT_PART_H

#include "base/err.h"
#include "pfw/event-parse.h"
#include "pfw/gzip-read.h"
#include "pfw/line-template.h"

#include <pthread.h>
#include <stdatomic.h>

/* import-input: the files of an import, and what is known about them before they are read. */

struct pfw_input {
	char *path;
	uint64_t bytes;
	bool is_gzip;
	bool is_unsplit; /* its members must be read sequentially */
	struct pfw_context ctx;
	int64_t first_pid; /* pid of its first record; STORE_NULL if unknown */
	uint64_t *starts;  /* offsets of the parts */
	size_t part_count;
	size_t first_part; /* index among all parts of the import */
	int error;         /* errno if it cannot be read */
};

struct pfw_inputs {
	struct pfw_input *items;
	size_t count;
	/* private */
	size_t cap;
};

#define PFW_INPUTS_INIT { .items = NULL }

void pfw_inputs_release(struct pfw_inputs *in);
/* Adds a file, or all *.pfw and *.pfw.gz below a directory, sorted; -ENOENT if there are none. */
int pfw_inputs_add(struct pfw_inputs *in, const char *path, struct sonde_err *err);

struct pfw_inspection {
	int64_t unit_ns; /* 0: detect */
	uint64_t text_part_bytes, gzip_part_bytes;
};

/*
 * Finds the starts of its parts, the default host (dims NULL: not its name) and the time unit. Errors are in in->error.
 */
void pfw_input_inspect(struct pfw_input *in, struct pfw_dims *dims, const struct pfw_inspection *look_for);
int pfw_input_open(const struct pfw_input *in); /* file descriptor, or -errno */
bool pfw_is_trace_name(const char *name);       /* *.pfw, *.pfw.gz */

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

/*
 * The lines that an import could not read, until their line numbers are known.
 *
 * Threads find them in any order. The first few of each part are kept, so the report does not depend on how the work
 * was divided. Further lines are only counted, by the workers. The functions do not lock.
 */

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

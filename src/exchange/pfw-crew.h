/*
 * pfw-crew: the threads of an import, and what they share.
 *
 * The work is a list of parts, taken in order. Who reads a part works on its
 * pieces himself, unless others have nothing to do: then he hands pieces to
 * them, so that a single gzip member, which must be inflated from its
 * beginning, is still read by all. At most a few pieces wait at a time.
 */
#ifndef SONDE_EXCHANGE_PFW_CREW_H
#define SONDE_EXCHANGE_PFW_CREW_H

#include "exchange/pfw-part.h"
#include "exchange/pfw-worker.h"

#define PFW_PART_PROBLEMS_MAX 10
#define PFW_QUEUE_MAX 64

/* "Pieces" that are one line: what was sewn together at a part's beginning, and at the end of the file. */
#define PFW_FIRST_LINE (SIZE_MAX - 1)
#define PFW_LAST_LINE SIZE_MAX

/* A lost line, until it is known which of the file it is. */
struct pfw_lost_line {
	const struct pfw_part *part;
	size_t piece;
	uint64_t line; /* in the piece */
	const char *reason;
	size_t where;
	char text[100]; /* its beginning */
	size_t bytes;   /* of the whole line */
};

/* As they come in the input: for qsort. */
int pfw_lost_order(const void *a, const void *b);

struct pfw_crew {
	struct pfw_dims *dims;
	struct pfw_tables *tables;
	bool is_general;
	unsigned threads;
	struct pfw_part *parts;
	size_t part_count;
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
	uint64_t all_bytes;
	/* the outcome */
	struct pfw_counts counts;
	uint64_t text_bytes;
	struct pfw_lost_line *lost; /* the first of each part, in no order */
	size_t lost_count;
	bool is_misplit; /* an input cannot be cut like this, and all is to be done again */
	int error;
	/* private */
	pthread_mutex_t lock, long_lock, seam_lock;
	pthread_cond_t changed;
	size_t next_part;
	unsigned reading, idle;
	struct pfw_piece *queue[PFW_QUEUE_MAX];
	unsigned queued;
	struct pfw_piece *spare[PFW_QUEUE_MAX];
	unsigned spare_count;
	uint64_t done_bytes;
	atomic_size_t seam_bytes;
	size_t sewn;       /* parts whose seams are done */
	struct buf seam;   /* the line that the next of them goes on with; guarded by seam_lock, as is: */
	bool is_seam_lost; /* some of it is not there */
	size_t lost_cap;
};

/* Do all parts with c->threads threads, this one among them. 0 or -ENOMEM; what is wrong with parts is in them. */
int pfw_crew_run(struct pfw_crew *c);
/* The lines of the first `pieces` pieces of a part, and of its head. */
uint64_t pfw_part_lines(const struct pfw_part *p, size_t pieces);
void pfw_crew_release(struct pfw_crew *c);

#endif

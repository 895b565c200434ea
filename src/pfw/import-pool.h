/*
 * pfw-crew: the threads of an import, and what they share.
 *
 * The work is a list of parts, taken in order. Who reads a part works on its
 * pieces himself, unless others have nothing to do: then he hands pieces to
 * them, so that a single gzip member, which must be inflated from its
 * beginning, is still read by all. At most a few pieces wait at a time.
 */
#ifndef SONDE_PFW_IMPORT_POOL_H
#define SONDE_PFW_IMPORT_POOL_H

#include "pfw/bad-lines.h"
#include "pfw/import-part.h"
#include "pfw/import-worker.h"

#define PFW_QUEUE_MAX 64

struct import_pool {
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
	struct pfw_lost lost;
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
};

/* Do all parts with c->threads threads, this one among them. 0 or -ENOMEM; what is wrong with parts is in them. */
int import_pool_run(struct import_pool *c);
void import_pool_release(struct import_pool *c);

#endif

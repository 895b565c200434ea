/*
 * import-pool: the threads of an import, and their shared state.
 *
 * The work is a list of parts, processed in order. The reader of a part processes its pieces itself, unless other
 * threads are idle: then it queues pieces for them. So a single gzip member, which must be inflated sequentially, still
 * uses all threads. The queue holds only a few pieces.
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
	/* results */
	struct pfw_counts counts;
	uint64_t text_bytes;
	struct pfw_lost lost;
	bool is_misplit; /* an input was split in the wrong place; the import must be repeated */
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
	size_t sewn;       /* parts with joined seams */
	struct buf seam;   /* start of the line that continues in the next part; guarded by seam_lock, as is: */
	bool is_seam_lost; /* some of it is missing */
};

/* Processes all parts with c->threads threads, including the caller. 0 or -ENOMEM; errors of a part are in the part. */
int import_pool_run(struct import_pool *c);
void import_pool_release(struct import_pool *c);

#endif

/*
 * ring-calls: the tables of calls of the builds that wrote into a ring.
 *
 * The number of a call in a ring is a row in the table of the libsonde that wrote it. Segments name that table by its
 * hash (calls/calls-text.h). A table with another hash than ours is read from the ring directory.
 */
#ifndef SONDE_RECORD_RING_CALLS_H
#define SONDE_RECORD_RING_CALLS_H

#include "base/err.h"
#include "calls/calls.h"
#include "record/ringdir.h"

struct ring_calls {
	struct ring_calls *next; /* of another build */
	uint64_t hash;
	const struct call_info *rows;
	uint32_t count;
	int64_t ids[]; /* by number: the store's id of the name, 0 if it has no row in the table call yet */
};

/*
 * The table with that hash: ours, or that of the ring directory; NULL and the reason in err if the directory has no
 * valid one, or if out of memory. *all keeps what was loaded.
 */
struct ring_calls *ring_calls_find(struct ring_calls **all, const struct ring_dir *ring, uint64_t hash,
		struct sonde_err *err);
void ring_calls_free(struct ring_calls *all);

#endif

/*
 * distinct: count distinct values in at most 1 MiB.
 *
 * Up to DISTINCT_EXACT values are stored and counted exactly; more are estimated (HyperLogLog with 4096 registers:
 * standard error 1.7 %). Which of the two applies depends only on the values, not on their order or grouping, so
 * merged parts give the same result as a single count.
 */
#ifndef SONDE_ENGINE_DISTINCT_H
#define SONDE_ENGINE_DISTINCT_H

#include "engine/pack.h"

#define DISTINCT_EXACT 65536u
#define DISTINCT_REGISTERS 4096u

/* All zero: empty. */
struct distinct {
	/* private */
	uint64_t *values;   /* while exact: a table of `places` hashes; 0 is an empty entry */
	uint8_t *registers; /* when estimated */
	uint32_t count, places;
};

void distinct_release(struct distinct *d);
int distinct_add(struct distinct *d, int64_t value); /* 0 or -ENOMEM */
int distinct_merge(struct distinct *d, const struct distinct *other);
uint64_t distinct_count(const struct distinct *d);
bool distinct_is_exact(const struct distinct *d);

int distinct_save(struct buf *out, const struct distinct *d);
int distinct_load(struct unpack *u, struct distinct *d);

#endif

/*
 * build: rows become the bytes of a block. Private to store/.
 *
 * What it holds belongs to one thread, and encoding, the long part of writing, needs nothing else. Only the head
 * says where in the file the block is: it is filled in by store_build_place, when that is known.
 */
#ifndef SONDE_STORE_BLOCK_BUILDER_H
#define SONDE_STORE_BLOCK_BUILDER_H

#include "store/codec.h"
#include "store/column-buffer.h"
#include "store/format.h"

struct store_build {
	const struct store_schema *schema;
	uint64_t salt;              /* of the file */
	struct store_gather gather; /* the rows */
	struct buf out;             /* the block */
	/* private */
	struct store_encoder encoder;
	unsigned stream_count;
	struct store_stream streams[2 * STORE_COLUMNS_MAX];
	/* Zone of the block: the first TIME column and the first DURATION column. */
	struct store_range time, dur;
	bool has_time, has_dur;
};

void store_build_init(struct store_build *b, const struct store_schema *schema, uint64_t salt);
void store_build_release(struct store_build *b);
/* All of the gathered rows' block but its head, into out. 0 or -ENOMEM. */
int store_build_encode(struct store_build *b);
/* The block is to be the `number`th of the file, at `offset`, with `first_row`: its entry, which its head says too. */
struct store_entry store_build_place(struct store_build *b, uint64_t offset, uint64_t number, uint64_t first_row);

#endif

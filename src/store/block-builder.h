/*
 * block-builder: encode rows as a block. Private to store/.
 *
 * A builder belongs to one thread; encoding, the long part of writing, needs no lock. The block's position in the
 * file is only in its header, which store_build_place fills in once it is known.
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
/* Encode the buffered rows into out, except the block header. 0 or -ENOMEM. */
int store_build_encode(struct store_build *b);
/*
 * Write the header: the block becomes number `number` of the file, at `offset`, with `first_row`. Returns its index
 * entry.
 */
struct store_entry store_build_place(struct store_build *b, uint64_t offset, uint64_t number, uint64_t first_row);

#endif

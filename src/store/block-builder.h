/*
 * block-builder: encode rows as a block. Private to store/.
 *
 * A builder belongs to one thread; encoding, the long part of writing, needs no lock. The block's position in the
 * file is only in its header, which store_build_place fills in once it is known.
 */
#ifndef SONDE_STORE_BLOCK_BUILDER_H
#define SONDE_STORE_BLOCK_BUILDER_H

#include "base/buf.h"
#include "store/codec.h"
#include "store/format.h"
#include "store/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The rows of a block before it is written, column by column.
 *
 * Within a block a column is "same" as long as every row has the value of the first one: only that value is kept, and
 * a masked comparison of the whole row finds the row where it changes. From then on it is one of the varying columns,
 * which have an array each. TEXT columns store lengths like numbers (STORE_NULL for null) and their bytes in a
 * buffer; any NaN in a REAL becomes the one null.
 */
struct store_gather {
	const struct store_schema *schema;
	size_t rows;
	uint64_t text_bytes;
	int64_t same[STORE_COLUMNS_MAX];    /* value of the first row */
	int64_t is_same[STORE_COLUMNS_MAX]; /* all bits set while the column is constant, else 0 */
	int64_t *values[STORE_COLUMNS_MAX]; /* of a column that varies */
	struct buf texts[STORE_COLUMNS_MAX];
	/* private */
	int64_t watched[STORE_COLUMNS_MAX]; /* is_same of INT columns, 0 of others */
	unsigned varying_count;             /* INT columns that are not same */
	unsigned varying[STORE_COLUMNS_MAX];
	void *memory[STORE_COLUMNS_MAX];
	unsigned special_count; /* TEXT and REAL columns: their fields are converted before they are stored */
	unsigned special[STORE_COLUMNS_MAX];
	bool is_real[STORE_COLUMNS_MAX]; /* of the special columns */
	int64_t has_reals;
	bool is_plain; /* no row of the block has a text, and the table has no REAL column */
};

void store_gather_reset(struct store_gather *g); /* no rows, memory kept */

/*
 * Add a row; there must be fewer than STORE_BLOCK_ROWS. Returns 0, or an error that changes nothing: -EMSGSIZE (text
 * too long), -ENOMEM, or -ENOSPC (the texts would make the block too large).
 */
int store_gather_add(struct store_gather *g, const void *row);

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

/*
 * table-private: shared by the parts of the reader. Private to store/.
 */
#ifndef SONDE_STORE_TABLE_PRIVATE_H
#define SONDE_STORE_TABLE_PRIVATE_H

#include "store/format.h"
#include "store/table-read.h"

#include <pthread.h>

struct store_table {
	const uint8_t *bytes;
	size_t size;
	bool is_mapped;
	char name[256];
	struct store_file_info file;
	const struct store_schema *schema; /* this program's, or `own` */
	int stream_of[STORE_COLUMNS_MAX];  /* first stream of a column of schema; -1: the file lacks it */
	struct store_schema own;           /* of a table unknown to this program */
	struct store_column_schema own_columns[STORE_COLUMNS_MAX];
	/* blocks found, in file order; numbers and rows increase */
	struct store_block_info *blocks;
	size_t count, cap;
	uint64_t rows;
	uint64_t used_bytes;               /* of the file: head, blocks, index */
	uint64_t blocks_total, rows_total; /* written in total, as far as the file shows */
	bool has_index;
	/* damage found while loading */
	pthread_mutex_t lock;
	bool *is_damaged;
	uint64_t damaged_blocks, damaged_rows, damaged_bytes;
};

/* blocks.c: find the blocks by the index, or by a scan if the file has none; 0 or -ENOMEM. */
int store_table_find_blocks(struct store_table *t);
/* blocks.c: count a block as damaged, once. */
void store_table_damage(struct store_table *t, size_t block);

#endif

/*
 * Fuzz target: any bytes opened and read as a table file.
 *
 * The first byte of an input chooses how it is read: bit 0 makes all checksums
 * right first, so that what lies behind them is reached too.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "store/format.h"
#include "store/hash.h"
#include "store/table-read.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 64u /* that are read of one input: time is better spent on other inputs */

static void put_hash(uint8_t *at, const void *bytes, size_t n, uint64_t salt)
{
	uint64_t hash = store_hash(bytes, n, salt);

	memcpy(at, &hash, sizeof(hash));
}

/* Length of the head; 0 when there is none that could be sealed. */
static size_t seal_head(uint8_t *file, size_t n, uint64_t *salt)
{
	struct store_file_head head;

	if (n < sizeof(head))
		return 0;
	memcpy(&head, file, sizeof(head));
	*salt = head.salt;
	if (head.bytes < sizeof(head) + 8 || head.bytes > n)
		return 0;
	put_hash(file + head.bytes - 8, file, head.bytes - 8, head.salt);
	return head.bytes;
}

/* The payloads first: their hashes are part of the head. Returns the length of the block, or of its magic. */
static size_t seal_block(uint8_t *block, size_t n, const struct store_file_info *info)
{
	size_t head_bytes = store_block_head_bytes(info->streams), at = head_bytes;

	if (n < head_bytes)
		return STORE_MAGIC_BYTES;
	for (unsigned i = 0; i < info->streams; i++) {
		uint8_t *place = block + sizeof(struct store_block_head) + i * sizeof(struct store_stream);
		struct store_stream s;

		memcpy(&s, place, sizeof(s));
		if (s.bytes > n - at)
			break;
		put_hash(place + offsetof(struct store_stream, hash), block + at, s.bytes, info->salt);
		at += s.bytes;
	}
	put_hash(block + head_bytes - 8, block, head_bytes - 8, info->salt);
	return at;
}

static void seal_index(uint8_t *file, size_t n, uint64_t salt)
{
	struct store_index_tail tail;

	if (n < sizeof(tail))
		return;
	memcpy(&tail, file + n - sizeof(tail), sizeof(tail));
	if (tail.bytes < sizeof(tail) || tail.bytes > n)
		return;
	put_hash(file + n - sizeof(tail), file + n - tail.bytes, tail.bytes - sizeof(tail), salt);
}

static void seal(uint8_t *file, size_t n)
{
	struct store_file_info info;
	uint64_t salt = 0;
	size_t at = seal_head(file, n, &salt);

	if (at == 0 || store_parse_head(file, n, &info) < 0)
		return;
	while (at < n) {
		uint8_t *hit = memmem(file + at, n - at, STORE_BLOCK_MAGIC, STORE_MAGIC_BYTES);

		if (!hit)
			break;
		at = (size_t)(hit - file) + seal_block(hit, n - (size_t)(hit - file), &info);
	}
	seal_index(file, n, salt);
}

/* Touch every byte that a batch shows. */
static uint64_t touch(const struct store_batch *b)
{
	const struct store_schema *schema = b->schema;
	uint64_t row[STORE_COLUMNS_MAX], sum = 0;

	for (size_t i = 0; i < b->rows; i++) {
		store_batch_row(b, i, row);
		for (unsigned c = 0; c < schema->count; c++) {
			const struct store_text *text = b->columns[c].texts;

			sum += schema->columns[c].kind == STORE_TEXT ? 0 : row[c];
			for (size_t k = 0; text && text[i].data && k < text[i].bytes; k++)
				sum += (uint8_t)text[i].data[k];
		}
	}
	return sum;
}

static uint64_t read_table(struct store_table *t)
{
	struct store_batch batch = STORE_BATCH_INIT;
	struct store_loss loss;
	const int last = (int)store_table_schema(t)->count - 1;
	uint64_t sum = 0;

	for (size_t i = 0; i < store_table_blocks(t) && i < BLOCKS_MAX; i++) {
		if (store_block_load(t, i, &last, 1, &batch, NULL) == 0)
			sum += touch(&batch);
		if (store_block_load(t, i, NULL, 0, &batch, NULL) == 0)
			sum += touch(&batch);
	}
	store_table_loss(t, &loss);
	store_batch_release(&batch);
	return sum + loss.rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct store_table *t;
	uint8_t *file;
	volatile uint64_t sum = 0;

	if (n < 1)
		return 0;
	file = malloc(n > 1 ? n - 1 : 1);
	if (!file)
		return 0;
	memcpy(file, data + 1, n - 1);
	if (data[0] & 1)
		seal(file, n - 1);
	if (store_table_open_memory(&t, file, n - 1, "fuzz", NULL) == 0) {
		sum = read_table(t);
		store_table_free(t);
	}
	(void)sum;
	free(file);
	return 0;
}

/*
 * Find the blocks of a file and count what is missing.
 *
 * With a valid index, only the index is read. Without one the file is walked from block to block; where a block
 * header is not intact, the next magic is searched for. Block numbers must increase: a block that breaks the order is
 * skipped.
 */
#include "store/table-private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add_block(struct store_table *t, const struct store_block_info *b)
{
	if (t->count == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 16;
		struct store_block_info *blocks = reallocarray(t->blocks, cap, sizeof(*blocks));

		if (!blocks)
			return -ENOMEM;
		t->blocks = blocks;
		t->cap = cap;
	}
	t->blocks[t->count++] = *b;
	t->rows += b->rows;
	t->used_bytes += b->bytes;
	return 0;
}

/* True if b can follow the blocks found so far and ends before `end`. */
static bool follows(const struct store_table *t, const struct store_block_info *b, uint64_t end)
{
	const struct store_block_info *last = t->count ? &t->blocks[t->count - 1] : NULL;
	uint64_t from = last ? last->offset + last->bytes : t->file.head_bytes;

	if (b->rows < 1 || b->rows > STORE_ROWS_MAX || b->first_row > INT64_MAX || b->number > INT64_MAX)
		return false;
	if (b->offset < from || b->offset > end || b->bytes > end - b->offset)
		return false;
	return !last || (b->number > last->number && b->first_row >= last->first_row + last->rows);
}

static void forget_blocks(struct store_table *t)
{
	t->count = 0;
	t->rows = 0;
	t->used_bytes = t->file.head_bytes;
}

/* 0 if a valid index was read, -ENOENT if the file has none. */
static int read_index(struct store_table *t)
{
	struct store_index_head head;
	const uint8_t *entries;

	if (!store_parse_index(t->bytes, t->size, &t->file, &head, &entries))
		return -ENOENT;
	for (uint64_t i = 0; i < head.entries; i++) {
		const uint8_t *at = entries + i * sizeof(struct store_entry);
		struct store_entry e;

		memcpy(&e, at, sizeof(e));
		struct store_block_info b = {
			.offset = e.offset,
			.bytes = e.bytes,
			.rows = e.rows,
			.number = e.number,
			.first_row = e.first_row,
			.time_min_ns = e.time_min_ns,
			.time_max_ns = e.time_max_ns,
			.dur_max_ns = e.dur_max_ns,
		};

		if (!follows(t, &b, (uint64_t)(entries - t->bytes) - sizeof(head)))
			return -ENOENT;
		if (add_block(t, &b) < 0)
			return -ENOMEM;
	}
	t->used_bytes += sizeof(head) + head.entries * sizeof(struct store_entry) + sizeof(struct store_index_tail);
	t->blocks_total = head.blocks_total;
	t->rows_total = head.rows_total;
	t->has_index = true;
	return 0;
}

static size_t next_magic(const struct store_table *t, size_t from)
{
	const uint8_t *hit = memmem(t->bytes + from, t->size - from, STORE_BLOCK_MAGIC, STORE_MAGIC_BYTES);

	return hit ? (size_t)(hit - t->bytes) : t->size;
}

static int scan_blocks(struct store_table *t)
{
	size_t at = next_magic(t, t->file.head_bytes);

	while (at < t->size) {
		struct store_block_head head;
		struct store_block_info b;

		if (!store_parse_block(t->bytes + at, t->size - at, &t->file, &head, NULL)) {
			at = next_magic(t, at + 1);
			continue;
		}
		/* Even the header of a truncated block counts the blocks and rows up to it. */
		if (t->blocks_total < head.number + 1)
			t->blocks_total = head.number + 1;
		if (t->rows_total < head.first_row + head.rows)
			t->rows_total = head.first_row + head.rows;
		b = (struct store_block_info){
			.offset = at,
			.bytes = head.bytes + head.payload_bytes,
			.rows = head.rows,
			.number = head.number,
			.first_row = head.first_row,
			.time_min_ns = head.time_min_ns,
			.time_max_ns = head.time_max_ns,
			.dur_max_ns = head.dur_max_ns,
		};
		if (!follows(t, &b, t->size)) {
			at = next_magic(t, at + head.bytes);
			continue;
		}
		if (add_block(t, &b) < 0)
			return -ENOMEM;
		at = next_magic(t, at + b.bytes);
	}
	return 0;
}

int store_table_find_blocks(struct store_table *t)
{
	int rc;

	forget_blocks(t);
	rc = read_index(t);
	if (rc == -ENOENT) {
		forget_blocks(t);
		rc = scan_blocks(t);
	}
	if (rc == 0)
		t->is_damaged = calloc(t->count ? t->count : 1, sizeof(*t->is_damaged));
	return rc == 0 && !t->is_damaged ? -ENOMEM : rc;
}

void store_table_damage(struct store_table *t, size_t block)
{
	pthread_mutex_lock(&t->lock);
	if (!t->is_damaged[block]) {
		t->is_damaged[block] = true;
		t->damaged_blocks++;
		t->damaged_rows += t->blocks[block].rows;
		t->damaged_bytes += t->blocks[block].bytes;
	}
	pthread_mutex_unlock(&t->lock);
}

static uint64_t missing(uint64_t total, uint64_t there)
{
	return total > there ? total - there : 0;
}

void store_table_loss(struct store_table *t, struct store_loss *loss)
{
	pthread_mutex_lock(&t->lock);
	*loss = (struct store_loss){
		.blocks = missing(t->blocks_total, t->count) + t->damaged_blocks,
		.rows = missing(t->rows_total, t->rows) + t->damaged_rows,
		.bytes = t->size - t->used_bytes + t->damaged_bytes,
		.is_open = !t->has_index,
	};
	pthread_mutex_unlock(&t->lock);
	/* "700 rows, 3 damaged or missing blocks, 900 bytes that could not be used, ..." */
	const struct {
		uint64_t count;
		const char *what;
	} parts[] = {
		{ loss->rows, "rows" },
		{ loss->blocks, "damaged or missing blocks" },
		{ loss->bytes, "bytes that could not be used" },
	};
	char *at = loss->text, *end = loss->text + sizeof(loss->text);

	*at = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].count)
			at += snprintf(at, (size_t)(end - at), "%s%" PRIu64 " %s", at == loss->text ? "" : ", ",
					parts[i].count, parts[i].what);
	if (loss->is_open)
		snprintf(at, (size_t)(end - at), "%swhat its writer had not yet written when it ended",
				at == loss->text ? "" : ", ");
}

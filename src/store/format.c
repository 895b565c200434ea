/*
 * Write and validate the parts of a table file.
 */
#include "store/format.h"

#include "store/hash.h"

#include <errno.h>
#include <string.h>

/* Schemas: the descriptors declared by the X-macros of schema.h. */

#define COLUMN(P, k, n, s, d) { .name = #n, .doc = d, .kind = STORE_##k, .semantic = STORE_##s },
#define NULL_INT STORE_NULL
#define NULL_REAL STORE_NULL_REAL
#define NULL_TEXT NULL
#define NULL_FIELD(P, kind, n, s, d) .n = NULL_##kind,
#define DEFINE(n, N, v, d) \
	static const struct store_column_schema n##_columns[] = { STORE_COLUMNS_##N(COLUMN, N) }; \
	const struct store_schema store_##n##_schema = { .name = #n, \
		.doc = d, \
		.version = v, \
		.count = STORE_##N##_COLUMNS, \
		.columns = n##_columns }; \
	const struct store_##n store_##n##_nulls = { STORE_COLUMNS_##N(NULL_FIELD, N) };

STORE_TABLES(DEFINE)

#define LIST(n, N, v, d) &store_##n##_schema,
const struct store_schema *const store_schemas[STORE_TABLE_COUNT] = { STORE_TABLES(LIST) };

const struct store_schema *store_schema_find(const char *name)
{
	for (size_t i = 0; i < STORE_TABLE_COUNT; i++)
		if (strcmp(store_schemas[i]->name, name) == 0)
			return store_schemas[i];
	return NULL;
}

int store_schema_column(const struct store_schema *s, const char *name)
{
	for (unsigned i = 0; i < s->count; i++)
		if (strcmp(s->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* Files. */

#define HASH_BYTES sizeof(uint64_t)

unsigned store_kind_streams(enum store_kind kind)
{
	return kind == STORE_TEXT ? 2 : 1;
}

static bool hash_holds(const uint8_t *bytes, size_t n, uint64_t salt)
{
	uint64_t hash;

	memcpy(&hash, bytes + n, sizeof(hash));
	return hash == store_hash(bytes, n, salt);
}

static void add_name(struct buf *out, const char *name)
{
	size_t n = strnlen(name, 255);

	buf_addc(out, (char)n);
	buf_add(out, name, n);
}

void store_format_head(struct buf *out, const struct store_schema *schema, uint64_t salt)
{
	static const char zeros[8];
	size_t from = out->len;
	struct store_file_head head = {
		.version = STORE_FORMAT_VERSION,
		.salt = salt,
		.schema_version = schema->version,
		.columns = schema->count,
	};

	memcpy(head.magic, STORE_FILE_MAGIC, STORE_MAGIC_BYTES);
	buf_add(out, &head, sizeof(head));
	add_name(out, schema->name);
	for (unsigned i = 0; i < schema->count; i++) {
		const struct store_column_schema *c = &schema->columns[i];
		buf_addc(out, (char)c->kind);
		buf_addc(out, (char)c->semantic);
		buf_addc(out, (char)store_kind_streams(c->kind));
		add_name(out, c->name);
	}
	buf_add(out, zeros, (from - out->len) % 8);
	if (buf_error(out))
		return;
	head.bytes = (uint32_t)(out->len - from + HASH_BYTES);
	memcpy(out->data + from, &head, sizeof(head));
	uint64_t hash = store_hash(out->data + from, out->len - from, salt);

	buf_add(out, &hash, sizeof(hash));
}

struct cursor {
	const uint8_t *at, *end;
	bool is_bad;
};

static uint8_t read_byte(struct cursor *c)
{
	if (c->at < c->end)
		return *c->at++;
	c->is_bad = true;
	return 0;
}

/* Read a name without NUL bytes into name[256]. */
static void read_name(struct cursor *c, char name[256])
{
	size_t n = read_byte(c);

	if (n == 0 || (size_t)(c->end - c->at) < n || memchr(c->at, 0, n)) {
		c->is_bad = true;
		n = 0;
	}
	memcpy(name, c->at, n);
	name[n] = '\0';
	c->at += n;
}

static int parse_columns(struct cursor *c, struct store_file_info *info)
{
	read_name(c, info->name);
	info->streams = 0;
	for (unsigned i = 0; i < info->columns && !c->is_bad; i++) {
		struct store_file_column *col = &info->column[i];
		col->kind = read_byte(c);
		col->semantic = read_byte(c);
		col->streams = read_byte(c);
		read_name(c, col->name);
		if (col->streams < 1 || col->streams > 4)
			c->is_bad = true;
		else if (col->kind <= STORE_TEXT && col->streams != store_kind_streams(col->kind))
			c->is_bad = true;
		info->streams += col->streams;
	}
	return c->is_bad ? -EBADMSG : 0;
}

int store_parse_head(const uint8_t *bytes, size_t n, struct store_file_info *info)
{
	struct store_file_head head;

	if (n < sizeof(head) + HASH_BYTES)
		return -EBADMSG;
	memcpy(&head, bytes, sizeof(head));
	if (memcmp(head.magic, STORE_FILE_MAGIC, STORE_MAGIC_BYTES) != 0)
		return -EBADMSG;
	if (head.bytes < sizeof(head) + HASH_BYTES || head.bytes > n || head.bytes > STORE_HEAD_BYTES_MAX)
		return -EBADMSG;
	if (!hash_holds(bytes, head.bytes - HASH_BYTES, head.salt))
		return -EBADMSG;
	info->version = head.version;
	if (head.version > STORE_FORMAT_VERSION)
		return -ENOTSUP;
	if (head.columns < 1 || head.columns > STORE_COLUMNS_MAX)
		return -EBADMSG;
	info->salt = head.salt;
	info->head_bytes = head.bytes;
	info->schema_version = head.schema_version;
	info->columns = head.columns;
	struct cursor c = { .at = bytes + sizeof(head), .end = bytes + head.bytes - HASH_BYTES };
	return parse_columns(&c, info);
}

size_t store_block_head_bytes(unsigned streams)
{
	return sizeof(struct store_block_head) + streams * sizeof(struct store_stream) + HASH_BYTES;
}

void store_format_block(uint8_t *at, const struct store_block_head *head, const struct store_stream *streams,
		uint64_t salt)
{
	size_t n = store_block_head_bytes(head->streams) - HASH_BYTES;

	memcpy(at, head, sizeof(*head));
	memcpy(at + sizeof(*head), streams, head->streams * sizeof(*streams));
	uint64_t hash = store_hash(at, n, salt);
	memcpy(at + n, &hash, sizeof(hash));
}

static bool head_is_sound(const struct store_block_head *h, const struct store_file_info *info)
{
	return memcmp(h->magic, STORE_BLOCK_MAGIC, STORE_MAGIC_BYTES) == 0 && h->streams == info->streams &&
			h->bytes == store_block_head_bytes(info->streams) && h->rows >= 1 &&
			h->rows <= STORE_ROWS_MAX && h->first_row <= (uint64_t)INT64_MAX &&
			h->number <= (uint64_t)INT64_MAX && h->payload_bytes <= (uint64_t)INT64_MAX;
}

bool store_parse_block(const uint8_t *bytes, size_t n, const struct store_file_info *info,
		struct store_block_head *head, struct store_stream *streams)
{
	if (n < store_block_head_bytes(info->streams))
		return false;
	memcpy(head, bytes, sizeof(*head));
	if (!head_is_sound(head, info) || !hash_holds(bytes, head->bytes - HASH_BYTES, info->salt))
		return false;
	uint64_t payload = 0;
	for (unsigned i = 0; i < info->streams; i++) {
		struct store_stream s;
		memcpy(&s, bytes + sizeof(*head) + i * sizeof(s), sizeof(s));
		payload += s.bytes;
		if (streams)
			streams[i] = s;
	}
	return payload == head->payload_bytes;
}

void store_format_index(struct buf *out, const struct store_entry *entries, size_t count, uint64_t blocks_total,
		uint64_t rows_total, uint64_t salt)
{
	size_t from = out->len;
	struct store_index_head head = { .entries = count, .blocks_total = blocks_total, .rows_total = rows_total };

	memcpy(head.magic, STORE_INDEX_MAGIC, STORE_MAGIC_BYTES);
	buf_add(out, &head, sizeof(head));
	buf_add(out, entries, count * sizeof(*entries));
	if (buf_error(out))
		return;
	struct store_index_tail tail = { .bytes = out->len - from + sizeof(tail) };
	tail.hash = store_hash(out->data + from, out->len - from, salt);
	memcpy(tail.magic, STORE_END_MAGIC, STORE_MAGIC_BYTES);
	buf_add(out, &tail, sizeof(tail));
}

bool store_parse_index(const uint8_t *file, size_t n, const struct store_file_info *info, struct store_index_head *head,
		const uint8_t **entries)
{
	struct store_index_tail tail;
	const size_t ends = sizeof(*head) + sizeof(tail);

	if (n < info->head_bytes + ends)
		return false;
	memcpy(&tail, file + n - sizeof(tail), sizeof(tail));
	if (memcmp(tail.magic, STORE_END_MAGIC, STORE_MAGIC_BYTES) != 0)
		return false;
	if (tail.bytes < ends || tail.bytes > n - info->head_bytes)
		return false;
	const uint8_t *at = file + n - tail.bytes;
	memcpy(head, at, sizeof(*head));
	if (memcmp(head->magic, STORE_INDEX_MAGIC, STORE_MAGIC_BYTES) != 0)
		return false;
	if (head->entries != (tail.bytes - ends) / sizeof(struct store_entry) ||
			(tail.bytes - ends) % sizeof(struct store_entry))
		return false;
	*entries = at + sizeof(*head);
	return tail.hash == store_hash(at, tail.bytes - sizeof(tail), info->salt);
}

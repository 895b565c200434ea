/*
 * format: the file format of a table, see doc/format.md. Private to store/.
 *
 *   file    = head, block*, index
 *   head    = struct store_file_head, names and kinds, hash
 *   block   = struct store_block_head, struct store_stream[], hash, payload of each stream
 *   index   = struct store_index_head, struct store_entry[], struct store_index_tail
 *
 * Numbers are little-endian. Each hash covers the preceding bytes of its part and is seeded with the salt of the file
 * header, so that neither a block of another file nor text inside a block is accepted as a block of this file.
 * Parsers check every number against the available bytes before using it.
 */
#ifndef SONDE_STORE_FORMAT_H
#define SONDE_STORE_FORMAT_H

#include "base/buf.h"
#include "store/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the store reads and writes little-endian numbers in place");

/* Compile loops that profit from wide registers for those, too; the dynamic loader chooses (ifunc). */
#if defined(__x86_64__) && !defined(__clang__)
#define STORE_WIDE __attribute__((target_clones("default", "avx2")))
#else
#define STORE_WIDE
#endif

#define STORE_FORMAT_VERSION 1u
#define STORE_FILE_MAGIC "SONDETBL"
#define STORE_BLOCK_MAGIC "SONDEBLK"
#define STORE_INDEX_MAGIC "SONDEIDX"
#define STORE_END_MAGIC "SONDEEND"
#define STORE_MAGIC_BYTES 8u
#define STORE_ROWS_MAX 65536u                      /* of a block */
#define STORE_BLOCK_TEXT_MAX ((uint64_t)32 << 20)  /* bytes of all texts of a block */
#define STORE_STREAMS_MAX (4u * STORE_COLUMNS_MAX) /* of a block */
#define STORE_HEAD_BYTES_MAX 65536u                /* of a file's head */

struct store_file_head {
	char magic[STORE_MAGIC_BYTES];
	uint32_t version;
	uint32_t bytes; /* of the head with its hash, a multiple of 8 */
	uint64_t salt;
	uint32_t schema_version;
	uint32_t columns;
	/* u8 length and bytes of the table's name; for each column u8 kind, u8 semantic, u8 streams,
	 * u8 length and bytes of its name; zeros up to a multiple of 8; u64 hash */
};

/* How one stream of numbers or bytes is stored. INT and REAL columns are one, TEXT is two: lengths, bytes. */
enum store_encoding {
	STORE_CONSTANT = 0, /* every value is `first`; no payload */
	STORE_OFFSET = 1,   /* value = base + u */
	STORE_DELTA = 2,    /* value = previous + base + u */
	STORE_ZIGZAG = 3,   /* value = previous + (u >> 1 ^ -(u & 1)) */
	STORE_XOR = 4,      /* bits = previous bits ^ u */
	STORE_BYTES = 5     /* `first` bytes, one section */
};

struct store_stream {
	uint8_t encoding;
	uint8_t width;     /* byte planes of u */
	uint8_t has_nulls; /* a section with a bitmap comes first */
	uint8_t zero;
	uint32_t bytes; /* of the payload */
	uint64_t first; /* first value, or the constant, or the count of bytes */
	uint64_t base;
	uint64_t hash; /* of the payload */
};

struct store_block_head {
	char magic[STORE_MAGIC_BYTES];
	uint32_t bytes; /* of head, streams and hash */
	uint32_t rows;
	uint64_t payload_bytes;
	uint64_t number;    /* of the block, from 0 */
	uint64_t first_row; /* rows written before it */
	int64_t time_min_ns;
	int64_t time_max_ns;
	int64_t dur_max_ns;
	uint32_t streams;
	uint32_t zero;
};

struct store_entry {
	uint64_t offset;
	uint64_t bytes;
	uint64_t number;
	uint64_t first_row;
	int64_t time_min_ns;
	int64_t time_max_ns;
	int64_t dur_max_ns;
	uint64_t rows;
};

struct store_index_head {
	char magic[STORE_MAGIC_BYTES];
	uint64_t entries;
	uint64_t blocks_total; /* blocks numbered so far */
	uint64_t rows_total;   /* rows passed to the writer, including lost ones */
};

struct store_index_tail {
	uint64_t hash;
	uint64_t bytes; /* of the whole index with this tail */
	char magic[STORE_MAGIC_BYTES];
};

_Static_assert(sizeof(struct store_file_head) == 32 && sizeof(struct store_stream) == 32, "layout");
_Static_assert(sizeof(struct store_block_head) == 72 && sizeof(struct store_entry) == 64, "layout");
_Static_assert(sizeof(struct store_index_head) == 32 && sizeof(struct store_index_tail) == 24, "layout");

/* A section holds n bytes that its reader knows the number of: u32 mode << 30 | stored bytes, then these. */
enum store_section {
	STORE_SECTION_SAME = 0, /* one byte, n times */
	STORE_SECTION_RAW = 1,
	STORE_SECTION_ZSTD = 2
};
#define STORE_SECTION_SHIFT 30u
#define STORE_SECTION_HEAD_BYTES 4u

/* A column as described by a file's header. */
struct store_file_column {
	char name[256];
	uint8_t kind;
	uint8_t semantic;
	uint8_t streams;
};

struct store_file_info {
	char name[256];
	uint64_t salt;
	uint32_t head_bytes;
	uint32_t schema_version;
	uint32_t version;
	unsigned columns;
	unsigned streams;
	struct store_file_column column[STORE_COLUMNS_MAX];
};

unsigned store_kind_streams(enum store_kind kind);

/* Append the header of a table file to out. */
void store_format_head(struct buf *out, const struct store_schema *schema, uint64_t salt);
/* 0, -EBADMSG if the header is damaged or missing, -ENOTSUP if a newer version wrote the file. */
int store_parse_head(const uint8_t *bytes, size_t n, struct store_file_info *info);

size_t store_block_head_bytes(unsigned streams);
/* Write header, streams and hash to `at`, which must have room for store_block_head_bytes. */
void store_format_block(uint8_t *at, const struct store_block_head *head, const struct store_stream *streams,
		uint64_t salt);
/* True if bytes[0..n) starts with an intact block header. Its payload may lie beyond n. streams may be NULL. */
bool store_parse_block(const uint8_t *bytes, size_t n, const struct store_file_info *info,
		struct store_block_head *head, struct store_stream *streams);

void store_format_index(struct buf *out, const struct store_entry *entries, size_t count, uint64_t blocks_total,
		uint64_t rows_total, uint64_t salt);
/* Find the index at the end of a complete file; its entries are not aligned. False if it is missing or damaged. */
bool store_parse_index(const uint8_t *file, size_t n, const struct store_file_info *info, struct store_index_head *head,
		const uint8_t **entries);

#endif

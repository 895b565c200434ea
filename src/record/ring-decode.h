/*
 * ring-decode: finds the records of a chunk, copies them out of the ring and validates them.
 *
 * The traced program may write anything into its ring at any time. A record is copied first, and only the copy is
 * read; every count in it is checked against its length before use. The recorder and libdftracer's log share this code:
 * it does not allocate.
 */
#ifndef SONDE_RECORD_RING_DECODE_H
#define SONDE_RECORD_RING_DECODE_H

#include "sonde/shm.h"
#include "store/schema.h"

#include <stdbool.h>

#define VIEW_STRINGS_MAX 4

struct ring_record {
	_Alignas(8) char bytes[SONDE_RECORD_BYTES_MAX];
	size_t len;
	const struct sonde_record *head;
	/* of calls */
	const int64_t *args;
	unsigned arg_count;
	uint64_t base;
	/* of calls and definitions */
	struct store_text strings[VIEW_STRINGS_MAX];
	unsigned string_count;
};

/* The head of a record as one word. */
static inline uint32_t ring_head_bytes(uint64_t head)
{
	return (uint32_t)(head & 0xffff) * 8;
}

static inline unsigned ring_head_kind(uint64_t head)
{
	return head >> 16 & 0xff;
}

static inline unsigned ring_head_state(uint64_t head)
{
	return head >> 24 & 0xff;
}

enum ring_step {
	RING_RECORD,     /* there is one at *at */
	RING_UNFINISHED, /* its writer has not committed it yet */
	RING_NOTHING,    /* none so far */
	RING_BROKEN      /* no valid length: the rest of the chunk cannot be read */
};

/*
 * Find the next record of a chunk, from *at on, and read its head. is_closed: the chunk has no writer any more. Then
 * records that were never committed are returned too (state PENDING), and *at skips reservations that were never
 * written.
 */
enum ring_step ring_chunk_next(const struct sonde_chunk *c, uint32_t *at, bool is_closed, uint64_t *head);

/* Copy the record of `words` words at `from` and validate it; false if it is invalid. */
bool ring_record_read(struct ring_record *v, const void *from, size_t words);

static inline const struct sonde_rec_call *ring_record_call(const struct ring_record *v)
{
	return (const void *)v->bytes;
}

static inline const struct sonde_rec_note *ring_record_note(const struct ring_record *v)
{
	return (const void *)v->bytes;
}

static inline const struct sonde_rec_def *ring_record_def(const struct ring_record *v)
{
	return (const void *)v->bytes;
}

static inline const struct sonde_rec_gpu *ring_record_gpu(const struct ring_record *v)
{
	return (const void *)v->bytes;
}

static inline const struct sonde_rec_who *ring_record_who(const struct ring_record *v)
{
	return (const void *)v->bytes;
}

/* Iterate over the typed arguments of an annotation: *at starts at 0; false at the end or at the first invalid one. */
bool ring_record_next_arg(const struct ring_record *v, size_t *at, struct sonde_arg *arg, struct store_text *text);

#endif

/*
 * rings: ring directories made by hand, as libsonde would have left them, and the
 * rows that come out of them.
 */
#ifndef SONDE_TEST_RINGS_H
#define SONDE_TEST_RINGS_H

#include "base/err.h"
#include "sonde/shm.h"
#include "store/schema.h"

#include <stddef.h>

#define MADE_CHUNKS 4

struct made_ring {
	char dir[64];
	struct sonde_control control;
	char *segment; /* MADE_CHUNKS of them */
	size_t bytes;
};

void ring_make(struct made_ring *r);
struct sonde_segment *ring_segment(struct made_ring *r);
struct sonde_chunk *ring_chunk(struct made_ring *r, unsigned i, int32_t tid); /* owned by tid from now on */
/* Append a record: `words` whole words, head included, whose state and length are set here. */
void *ring_append(struct sonde_chunk *c, const void *record, size_t bytes);
void ring_append_call(struct sonde_chunk *c, uint16_t call, uint64_t ticks, int64_t ret, const char *path);
void ring_append_string(struct sonde_chunk *c, uint64_t id, const char *text);
void ring_append_note(struct sonde_chunk *c, enum sonde_kind kind, uint64_t name, uint64_t ticks);
void ring_write(const struct made_ring *r, const char *name); /* control and the segment as file `name` */
void ring_write_file(const struct made_ring *r, const char *name, const void *bytes, size_t n);
void ring_free(struct made_ring *r);

/* Import it and read one table of the bundle; rows are copied, texts as NUL-terminated strings. */
struct rows {
	size_t count;
	int64_t cell[256][STORE_COLUMNS_MAX];
};
int ring_import(const struct made_ring *r, uint64_t *events); /* into <dir>.run */
int ring_import_err(const struct made_ring *r, uint64_t *events, struct sonde_err *err);
void ring_rows(const struct made_ring *r, enum store_table_id table, struct rows *rows);
const char *ring_text(const struct made_ring *r, int64_t id); /* a string of the bundle; static memory */

#endif

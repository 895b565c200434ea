/* Ring directories made by hand; see rings.h. */
#include "rings.h"

#include "base/fs.h"
#include "calls/calls-hash.h"
#include "record/record.h"
#include "store/strings.h"
#include "store/table-read.h"
#include "support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ring_make(struct made_ring *r)
{
	memset(r, 0, sizeof(*r));
	strcpy(r->dir, "/tmp/sonde-ring-XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	r->control = (struct sonde_control){ .magic = SONDE_CONTROL_MAGIC,
		.version = SONDE_SHM_VERSION,
		.is_on = 1,
		.clock = SONDE_CLOCK_MONOTONIC,
		.segments_made = 1,
		.next_process = 2 };
	r->bytes = SONDE_SEGMENT_HEAD_BYTES + MADE_CHUNKS * SONDE_CHUNK_BYTES;
	r->segment = aligned_alloc(64, r->bytes);
	assert_non_null(r->segment);
	memset(r->segment, 0, r->bytes);
	*ring_segment(r) = (struct sonde_segment){ .magic = SONDE_SEGMENT_MAGIC,
		.version = SONDE_SHM_VERSION,
		.kind = SONDE_SEGMENT_RING,
		.calls_hash = CALLS_HASH,
		.process = 1,
		.pid = 4242,
		.parent_pid = 1,
		.chunk_count = MADE_CHUNKS };
}

struct sonde_segment *ring_segment(struct made_ring *r)
{
	return (void *)r->segment;
}

struct sonde_chunk *ring_chunk(struct made_ring *r, unsigned i, int32_t tid)
{
	struct sonde_chunk *c = (void *)(r->segment + SONDE_SEGMENT_HEAD_BYTES + i * SONDE_CHUNK_BYTES);
	c->tail = SONDE_CHUNK_FIRST;
	c->tid = tid;
	ring_segment(r)->owner[i] = (uint32_t)tid;
	return c;
}

void *ring_append(struct sonde_chunk *c, const void *record, size_t bytes)
{
	char *at = (char *)c + c->tail;
	assert_true(bytes % 8 == 0 && c->tail + bytes <= SONDE_CHUNK_BYTES);
	memcpy(at, record, bytes);
	((struct sonde_record *)(void *)at)->words = (uint16_t)(bytes / 8);
	((struct sonde_record *)(void *)at)->state = SONDE_DONE;
	c->tail += bytes;
	return at;
}

static size_t put_string(char *at, const char *text)
{
	struct sonde_string s = { .bytes = (uint32_t)strlen(text) };
	memcpy(at, &s, sizeof(s));
	memcpy(at + sizeof(s), text, s.bytes);
	return (sizeof(s) + s.bytes + 7) & ~(size_t)7;
}

void ring_append_call(struct sonde_chunk *c, uint16_t call, uint64_t ticks, int64_t ret, const char *path)
{
	_Alignas(8) char bytes[4096] = { 0 };
	struct sonde_rec_call r = { .head = { .kind = SONDE_REC_CALL, .call = call },
		.ticks = ticks,
		.dur_ticks = 10,
		.ret = ret,
		.fd = -1,
		.strings = path ? 1 : 0,
		.flags = path ? SONDE_CALL_PATH : 0,
		.size = SONDE_NONE,
		.offset = SONDE_NONE };
	size_t used = sizeof(r);
	memcpy(bytes, &r, sizeof(r));
	if (path)
		used += 8 + put_string(bytes + used + 8, path);
	ring_append(c, bytes, used);
}

void ring_append_string(struct sonde_chunk *c, uint64_t id, const char *text)
{
	_Alignas(8) char bytes[4096] = { 0 };
	struct sonde_rec_def r = { .head = { .kind = SONDE_REC_STRING, .call = 1 }, .id = id };
	memcpy(bytes, &r, sizeof(r));
	ring_append(c, bytes, sizeof(r) + put_string(bytes + sizeof(r), text));
}

void ring_append_note(struct sonde_chunk *c, enum sonde_kind kind, uint64_t name, uint64_t ticks)
{
	struct sonde_rec_note r = { .head = { .kind = (uint8_t)kind }, .ticks = ticks, .dur_ticks = 5, .name = name };
	ring_append(c, &r, sizeof(r));
}

void ring_write_file(const struct made_ring *r, const char *name, const void *bytes, size_t n)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", r->dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, bytes, n), 0);
	close(fd);
}

void ring_write(const struct made_ring *r, const char *name)
{
	ring_write_file(r, "control", &r->control, sizeof(r->control));
	ring_write_file(r, name, r->segment, r->bytes);
}

static void bundle_path(const struct made_ring *r, char path[128])
{
	snprintf(path, 128, "%s.run", r->dir);
}

void ring_free(struct made_ring *r)
{
	char path[128];
	bundle_path(r, path);
	fs_remove_tree(AT_FDCWD, path);
	fs_remove_tree(AT_FDCWD, r->dir);
	free(r->segment);
}

int ring_import(const struct made_ring *r, uint64_t *events)
{
	return ring_import_err(r, events, NULL);
}

int ring_import_err(const struct made_ring *r, uint64_t *events, struct sonde_err *err)
{
	char path[128];
	struct record_result result = RECORD_RESULT_INIT;
	bundle_path(r, path);
	fs_remove_tree(AT_FDCWD, path);
	int rc = record_import_ring(r->dir, path, &result, err);
	if (events)
		*events = result.events;
	record_result_release(&result);
	return rc;
}

static int open_tables(const struct made_ring *r)
{
	char path[160];
	snprintf(path, sizeof(path), "%s.run/tables", r->dir);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

void ring_rows(const struct made_ring *r, enum store_table_id table, struct rows *rows)
{
	struct store_table *t = NULL;
	struct store_batch batch = STORE_BATCH_INIT;
	int fd = open_tables(r);
	rows->count = 0;
	if (!store_table_open(&t, fd, store_schemas[table]->name, NULL)) {
		for (size_t b = 0; b < store_table_blocks(t); b++) {
			assert_int_equal(store_block_load(t, b, NULL, 0, &batch, NULL), 0);
			for (size_t i = 0; i < batch.rows && rows->count < 256; i++)
				store_batch_row(&batch, i, rows->cell[rows->count++]);
		}
		store_batch_release(&batch);
		store_table_free(t);
	}
	close(fd);
}

const char *ring_text(const struct made_ring *r, int64_t id)
{
	static char text[4096];
	struct store_names names;
	int fd = open_tables(r);
	assert_int_equal(store_names_open(&names, fd, NULL), 0);
	const struct store_text *t = store_names_get(&names, id);
	snprintf(text, sizeof(text), "%s", t ? t->data : "(none)");
	store_names_release(&names);
	close(fd);
	return text;
}

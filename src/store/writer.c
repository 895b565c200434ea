/*
 * Writing blocks. All that goes to the file is built in `out` and appended by
 * one call, so a file always ends in a whole block or in one that a failed or
 * killed write tore. What belongs to the file is in the whole writer and
 * guarded by its lock; encoding a block, the long part, needs none.
 */
#include "store/writer.h"

#include "base/buf.h"
#include "base/fs.h"
#include "store/codec.h"
#include "store/format.h"
#include "store/gather.h"
#include "store/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

_Static_assert(STORE_BLOCK_ROWS == STORE_ROWS_MAX, "writers fill what readers accept");

struct store_writer {
	const struct store_schema *schema;
	uint64_t salt;
	unsigned streams;
	struct store_gather gather;
	struct store_encoder encoder;
	struct buf out;
	uint64_t lost;
	bool is_failed;
	struct store_writer *whole; /* itself when it is no part */
	/* of the whole */
	pthread_mutex_t lock;
	int fd;
	uint64_t bytes;
	uint64_t rows_written;
	struct store_entry *entries;
	size_t entry_count, entry_cap;
};

static int write_head(struct store_writer *w)
{
	int rc;

	store_format_head(&w->out, w->schema, w->salt);
	rc = buf_error(&w->out);
	if (rc == 0)
		rc = fs_write_all(w->fd, w->out.data, w->out.len);
	w->bytes = w->out.len;
	return rc;
}

/* Not every file system knows RENAME_NOREPLACE; there the moment between look and rename is accepted. */
static int rename_new(int dirfd, const char *from, const char *to)
{
	if (renameat2(dirfd, from, dirfd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (faccessat(dirfd, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(dirfd, from, dirfd, to) < 0 ? -errno : 0;
}

/* The file gets its name when its head is written: a table that is there can always be read. */
static int create_file(struct store_writer *w, int dirfd)
{
	char name[256], temp[264];
	int rc;

	snprintf(name, sizeof(name), "%s.tbl", w->schema->name);
	snprintf(temp, sizeof(temp), ".%s.new", name);
	w->fd = openat(dirfd, temp, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (w->fd < 0)
		return -errno;
	flock(w->fd, LOCK_EX | LOCK_NB); /* tells recovery that the writer lives, where that works */
	rc = write_head(w);
	if (rc == 0)
		rc = rename_new(dirfd, temp, name);
	if (rc < 0)
		unlinkat(dirfd, temp, 0);
	return rc;
}

static void set_schema(struct store_writer *w, const struct store_schema *schema)
{
	w->schema = schema;
	w->whole = w;
	w->fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	for (unsigned c = 0; c < schema->count; c++)
		w->streams += store_kind_streams(schema->columns[c].kind);
	store_gather_init(&w->gather, schema);
	buf_init(&w->out, 0);
	if (getrandom(&w->salt, sizeof(w->salt), GRND_NONBLOCK) != (ssize_t)sizeof(w->salt))
		w->salt = (uintptr_t)w ^ (uint64_t)getpid() << 32;
}

int store_writer_open(struct store_writer **out, int dirfd, const struct store_schema *schema, struct sonde_err *err)
{
	struct store_writer *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return err_sys(err, ENOMEM, "cannot create the table '%s'", schema->name);
	set_schema(w, schema);
	rc = create_file(w, dirfd);
	if (rc < 0) {
		store_writer_free(w);
		return err_sys(err, -rc, "cannot create the table '%s'", schema->name);
	}
	*out = w;
	return 0;
}

int store_writer_open_part(struct store_writer **out, struct store_writer *whole, struct sonde_err *err)
{
	struct store_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return err_sys(err, ENOMEM, "cannot write the table '%s'", whole->schema->name);
	set_schema(w, whole->schema);
	w->whole = whole;
	w->salt = whole->salt;
	*out = w;
	return 0;
}

void store_writer_free(struct store_writer *w)
{
	if (!w)
		return;
	pthread_mutex_destroy(&w->lock);
	store_gather_release(&w->gather);
	if (w->fd >= 0)
		close(w->fd);
	store_encoder_release(&w->encoder);
	buf_release(&w->out);
	free(w->entries);
	free(w);
}

/* Zone of the block: the first TIME column and the first DURATION column. */
struct zone {
	struct store_range time, dur;
	bool has_time, has_dur;
};

static void note_zone(struct zone *z, enum store_semantic semantic, const struct store_range *range)
{
	if (semantic == STORE_TIME && !z->has_time) {
		z->has_time = true;
		z->time = *range;
	}
	if (semantic == STORE_DURATION && !z->has_dur) {
		z->has_dur = true;
		z->dur = *range;
	}
}

static int encode_numbers(struct store_writer *w, unsigned c, struct store_stream *s, struct zone *zone)
{
	const struct store_column_schema *column = &w->schema->columns[c];
	const struct store_gather *g = &w->gather;
	struct store_range range = { .min = g->same[c], .max = g->same[c] };
	int rc = 0;

	if (g->is_same[c])
		*s = (struct store_stream){ .encoding = STORE_CONSTANT, .first = (uint64_t)g->same[c] };
	else if (column->kind == STORE_REAL)
		rc = store_encode_reals(&w->encoder, (const uint64_t *)g->values[c], g->rows, s, &w->out);
	else
		rc = store_encode_ints(&w->encoder, g->values[c], g->rows, column->semantic == STORE_TIME, s, &range,
				&w->out);
	note_zone(zone, column->semantic, &range);
	return rc;
}

static void seal_stream(struct store_writer *w, struct store_stream *s, size_t from)
{
	s->bytes = (uint32_t)(w->out.len - from);
	s->hash = store_hash(w->out.data + from, s->bytes, w->salt);
}

static int encode_columns(struct store_writer *w, struct store_stream *s, struct zone *zone)
{
	for (unsigned c = 0; c < w->schema->count; c++, s++) {
		const struct buf *text = &w->gather.texts[c];
		size_t from = w->out.len;

		if (encode_numbers(w, c, s, zone) < 0)
			return -ENOMEM;
		seal_stream(w, s, from);
		if (w->schema->columns[c].kind != STORE_TEXT)
			continue;
		from = w->out.len;
		if (store_encode_bytes(&w->encoder, text->data, text->len, ++s, &w->out) < 0)
			return -ENOMEM;
		seal_stream(w, s, from);
	}
	return buf_error(&w->out);
}

static struct store_entry make_entry(const struct store_writer *w, const struct zone *z)
{
	bool has_time = z->has_time && z->time.min != STORE_NULL;

	return (struct store_entry){
		.offset = w->whole->bytes,
		.bytes = w->out.len,
		.number = w->whole->entry_count,
		.first_row = w->whole->rows_written,
		.time_min_ns = has_time ? z->time.min : STORE_NULL,
		.time_max_ns = has_time ? z->time.max : STORE_NULL,
		.dur_max_ns = z->has_dur && z->dur.max > 0 ? z->dur.max : 0,
		.rows = w->gather.rows,
	};
}

static void put_block_head(struct store_writer *w, const struct store_entry *e, const struct store_stream *streams)
{
	uint32_t head_bytes = (uint32_t)store_block_head_bytes(w->streams);
	struct store_block_head head = {
		.bytes = head_bytes,
		.rows = (uint32_t)e->rows,
		.payload_bytes = e->bytes - head_bytes,
		.number = e->number,
		.first_row = e->first_row,
		.time_min_ns = e->time_min_ns,
		.time_max_ns = e->time_max_ns,
		.dur_max_ns = e->dur_max_ns,
		.streams = w->streams,
	};

	memcpy(head.magic, STORE_BLOCK_MAGIC, STORE_MAGIC_BYTES);
	store_format_block((uint8_t *)w->out.data, &head, streams, w->salt);
}

/* All of the block but its head, which says where in the file it is. */
static int encode_block(struct store_writer *w, struct store_stream *streams, struct zone *zone)
{
	buf_reset(&w->out);
	if (!buf_room(&w->out, store_block_head_bytes(w->streams)))
		return -ENOMEM;
	w->out.len += store_block_head_bytes(w->streams);
	return encode_columns(w, streams, zone);
}

static int reserve_entry(struct store_writer *w)
{
	size_t cap = w->entry_cap ? w->entry_cap * 2 : 16;
	struct store_entry *entries;

	if (w->entry_count < w->entry_cap)
		return 0;
	entries = reallocarray(w->entries, cap, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	w->entries = entries;
	w->entry_cap = cap;
	return 0;
}

/* Append w->out; after a failure the file ends where it did before, if the disk lets us. */
static int append_out(struct store_writer *w)
{
	struct store_writer *whole = w->whole;
	int rc = fs_write_all(whole->fd, w->out.data, w->out.len);

	if (rc == 0)
		whole->bytes += w->out.len;
	else if (ftruncate(whole->fd, (off_t)whole->bytes) < 0)
		return rc; /* readers cut the torn block off by themselves */
	return rc;
}

/* With the lock held. */
static int append_block(struct store_writer *w, const struct store_stream *streams, const struct zone *zone)
{
	struct store_writer *whole = w->whole;
	struct store_entry entry = make_entry(w, zone);
	int rc = reserve_entry(whole);

	put_block_head(w, &entry, streams);
	if (rc == 0)
		rc = append_out(w);
	if (rc < 0)
		return rc;
	whole->entries[whole->entry_count++] = entry;
	whole->rows_written += w->gather.rows;
	return 0;
}

/* The file is not written any more: what a part has gathered is lost, and said once. */
static int give_up(struct store_writer *w)
{
	w->is_failed = true;
	w->lost += w->gather.rows;
	store_gather_reset(&w->gather);
	return 0;
}

static int fail(struct store_writer *w, int rc, struct sonde_err *err)
{
	w->whole->is_failed = w->is_failed = true;
	w->lost += w->gather.rows;
	store_gather_reset(&w->gather);
	err_sys(err, -rc, "cannot write the table '%s'", w->schema->name);
	err_hint(err, "its rows from here on are lost; what was written before stays readable");
	return rc;
}

int store_writer_flush(struct store_writer *w, struct sonde_err *err)
{
	struct store_stream streams[2 * STORE_COLUMNS_MAX];
	struct zone zone = { .has_time = false };
	int rc;

	if (w->gather.rows == 0)
		return 0;
	rc = encode_block(w, streams, &zone);
	pthread_mutex_lock(&w->whole->lock);
	if (w->whole->is_failed)
		rc = give_up(w);
	else if (rc == 0)
		rc = append_block(w, streams, &zone);
	if (rc < 0)
		fail(w, rc, err);
	pthread_mutex_unlock(&w->whole->lock);
	store_gather_reset(&w->gather);
	return rc;
}

static const char *lost_why(int rc)
{
	return rc == -EMSGSIZE ? "a text in it is longer than 16 MiB" : "out of memory";
}

int store_writer_add(struct store_writer *w, const void *row, struct sonde_err *err)
{
	int rc = w->is_failed ? 0 : store_gather_add(&w->gather, row);

	if (rc == -ENOSPC) {
		rc = store_writer_flush(w, err);
		if (!w->is_failed)
			rc = store_gather_add(&w->gather, row);
	}
	if (w->is_failed) {
		w->lost++;
		return rc;
	}
	if (rc < 0) {
		w->lost++;
		return err_set(err, -rc, "a row of the table '%s' is lost: %s", w->schema->name, lost_why(rc));
	}
	return w->gather.rows == STORE_BLOCK_ROWS ? store_writer_flush(w, err) : 0;
}

static int write_index(struct store_writer *w, struct sonde_err *err)
{
	int rc;

	buf_reset(&w->out);
	store_format_index(&w->out, w->entries, w->entry_count, w->entry_count, w->rows_written + w->lost, w->salt);
	rc = buf_error(&w->out);
	if (rc == 0)
		rc = append_out(w);
	if (rc < 0 && !w->is_failed)
		return fail(w, rc, err);
	return 0;
}

static int close_part(struct store_writer *w, int rc)
{
	pthread_mutex_lock(&w->whole->lock);
	w->whole->lost += w->lost;
	pthread_mutex_unlock(&w->whole->lock);
	store_writer_free(w);
	return rc;
}

int store_writer_close(struct store_writer *w, struct sonde_err *err)
{
	int rc, index_rc;

	if (!w)
		return 0;
	rc = store_writer_flush(w, err);
	if (w->whole != w)
		return close_part(w, rc);
	index_rc = write_index(w, err);
	store_writer_free(w);
	return rc < 0 ? rc : index_rc;
}

uint64_t store_writer_rows(const struct store_writer *w)
{
	return w->rows_written + w->gather.rows;
}

uint64_t store_writer_pending(const struct store_writer *w)
{
	return w->gather.rows;
}

uint64_t store_writer_bytes(const struct store_writer *w)
{
	return w->bytes;
}

uint64_t store_writer_lost(const struct store_writer *w)
{
	return w->lost;
}

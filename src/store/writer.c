/*
 * Writing blocks. Everything is built in `out` and appended by one call, so a file ends in a complete block or in one
 * torn by a failed or killed write. State of the file is in the whole writer and guarded by its lock; encoding a
 * block, the long part, runs unlocked.
 */
#include "store/writer.h"

#include "base/fs.h"
#include "store/block-builder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

_Static_assert(STORE_BLOCK_ROWS == STORE_ROWS_MAX, "writers fill what readers accept");

struct store_writer {
	struct store_build build;
	uint64_t lost;
	bool is_failed;
	struct store_writer *whole; /* itself unless it is a part */
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

	store_format_head(&w->build.out, w->build.schema, w->build.salt);
	rc = buf_error(&w->build.out);
	if (rc == 0)
		rc = fs_write_all(w->fd, w->build.out.data, w->build.out.len);
	w->bytes = w->build.out.len;
	return rc;
}

/* Some file systems do not support RENAME_NOREPLACE; there the race between check and rename is accepted. */
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

/* The file gets its name once its header is written: a table that exists can always be read. */
static int create_file(struct store_writer *w, int dirfd)
{
	char name[256], temp[264];
	int rc;

	snprintf(name, sizeof(name), "%s.tbl", w->build.schema->name);
	snprintf(temp, sizeof(temp), ".%s.new", name);
	w->fd = openat(dirfd, temp, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (w->fd < 0)
		return -errno;
	flock(w->fd, LOCK_EX | LOCK_NB); /* shows recovery that the writer is alive, where flock works */
	rc = write_head(w);
	if (rc == 0)
		rc = rename_new(dirfd, temp, name);
	if (rc < 0)
		unlinkat(dirfd, temp, 0);
	return rc;
}

static uint64_t create_salt(const struct store_writer *w)
{
	uint64_t salt;

	if (getrandom(&salt, sizeof(salt), GRND_NONBLOCK) != (ssize_t)sizeof(salt))
		salt = (uintptr_t)w ^ (uint64_t)getpid() << 32;
	return salt;
}

static struct store_writer *create(const struct store_schema *schema, struct store_writer *whole)
{
	struct store_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->whole = whole ? whole : w;
	w->fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	store_build_init(&w->build, schema, whole ? whole->build.salt : create_salt(w));
	return w;
}

int store_writer_open(struct store_writer **out, int dirfd, const struct store_schema *schema, struct sonde_err *err)
{
	struct store_writer *w = create(schema, NULL);
	int rc;

	if (!w)
		return err_sys(err, ENOMEM, "cannot create the table '%s'", schema->name);
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
	struct store_writer *w = create(whole->build.schema, whole);

	if (!w)
		return err_sys(err, ENOMEM, "cannot write the table '%s'", whole->build.schema->name);
	*out = w;
	return 0;
}

void store_writer_free(struct store_writer *w)
{
	if (!w)
		return;
	pthread_mutex_destroy(&w->lock);
	store_build_release(&w->build);
	if (w->fd >= 0)
		close(w->fd);
	free(w->entries);
	free(w);
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

/* Append w->build.out; on failure truncate the file to its previous size, if possible. */
static int append_out(struct store_writer *w)
{
	struct store_writer *whole = w->whole;
	int rc = fs_write_all(whole->fd, w->build.out.data, w->build.out.len);

	if (rc == 0)
		whole->bytes += w->build.out.len;
	else if (ftruncate(whole->fd, (off_t)whole->bytes) < 0)
		return rc; /* readers skip the torn block */
	return rc;
}

/* With the lock held. */
static int append_block(struct store_writer *w)
{
	struct store_writer *whole = w->whole;
	struct store_entry entry = store_build_place(&w->build, whole->bytes, whole->entry_count, whole->rows_written);
	int rc = reserve_entry(whole);

	if (rc == 0)
		rc = append_out(w);
	if (rc < 0)
		return rc;
	whole->entries[whole->entry_count++] = entry;
	whole->rows_written += entry.rows;
	return 0;
}

/* The file is no longer written: count the buffered rows of a part as lost, and report it once. */
static int give_up(struct store_writer *w)
{
	w->is_failed = true;
	w->lost += w->build.gather.rows;
	store_gather_reset(&w->build.gather);
	return 0;
}

static int fail(struct store_writer *w, int rc, struct sonde_err *err)
{
	w->whole->is_failed = w->is_failed = true;
	w->lost += w->build.gather.rows;
	store_gather_reset(&w->build.gather);
	err_sys(err, -rc, "cannot write the table '%s'", w->build.schema->name);
	err_hint(err, "its further rows are lost; those written before stay readable");
	return rc;
}

int store_writer_flush(struct store_writer *w, struct sonde_err *err)
{
	int rc;

	if (w->build.gather.rows == 0)
		return 0;
	rc = store_build_encode(&w->build);
	pthread_mutex_lock(&w->whole->lock);
	if (w->whole->is_failed)
		rc = give_up(w);
	else if (rc == 0)
		rc = append_block(w);
	if (rc < 0)
		fail(w, rc, err);
	pthread_mutex_unlock(&w->whole->lock);
	store_gather_reset(&w->build.gather);
	return rc;
}

static const char *lost_why(int rc)
{
	return rc == -EMSGSIZE ? "a text in it is longer than 16 MiB" : "out of memory";
}

int store_writer_add(struct store_writer *w, const void *row, struct sonde_err *err)
{
	int rc = w->is_failed ? 0 : store_gather_add(&w->build.gather, row);

	if (rc == -ENOSPC) {
		rc = store_writer_flush(w, err);
		if (!w->is_failed)
			rc = store_gather_add(&w->build.gather, row);
	}
	if (w->is_failed) {
		w->lost++;
		return rc;
	}
	if (rc < 0) {
		w->lost++;
		return err_set(err, -rc, "a row of the table '%s' is lost: %s", w->build.schema->name, lost_why(rc));
	}
	return w->build.gather.rows == STORE_BLOCK_ROWS ? store_writer_flush(w, err) : 0;
}

static int write_index(struct store_writer *w, struct sonde_err *err)
{
	int rc;

	buf_reset(&w->build.out);
	store_format_index(&w->build.out, w->entries, w->entry_count, w->entry_count, w->rows_written + w->lost,
			w->build.salt);
	rc = buf_error(&w->build.out);
	if (rc == 0)
		rc = append_out(w);
	if (rc < 0 && !w->is_failed)
		return fail(w, rc, err);
	return 0;
}

int store_writer_close(struct store_writer *w, struct sonde_err *err)
{
	int rc, index_rc;

	if (!w)
		return 0;
	rc = store_writer_flush(w, err);
	if (w->whole != w) {
		/* A part of a table: its losses count for the whole. */
		pthread_mutex_lock(&w->whole->lock);
		w->whole->lost += w->lost;
		pthread_mutex_unlock(&w->whole->lock);
		store_writer_free(w);
		return rc;
	}
	index_rc = write_index(w, err);
	store_writer_free(w);
	return rc < 0 ? rc : index_rc;
}

uint64_t store_writer_rows(const struct store_writer *w)
{
	return w->rows_written + w->build.gather.rows;
}

uint64_t store_writer_pending(const struct store_writer *w)
{
	return w->build.gather.rows;
}

uint64_t store_writer_bytes(const struct store_writer *w)
{
	return w->bytes;
}

uint64_t store_writer_lost(const struct store_writer *w)
{
	return w->lost;
}

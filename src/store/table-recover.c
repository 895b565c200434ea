/*
 * Recovery: write the index of a table that a dead writer left without one.
 *
 * It can be interrupted at any point and run again: until the last byte of the index is written, the file is still
 * one without an index.
 */
#include "store/table-read.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "store/table-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

static int open_unused(int dirfd, const char *name, struct sonde_err *err)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s.tbl", name);
	fd = openat(dirfd, path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return err_sys(err, errno, "cannot open the table '%s' to repair it", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(fd);
		err_set(err, EBUSY, "the table '%s' is still being written", path);
		err_hint(err, "end the recording first");
		return -EBUSY;
	}
	return fd;
}

static int format_index(const struct store_table *t, struct buf *out)
{
	CLEANUP(cleanup_free) struct store_entry *entries = calloc(t->count + 1, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		const struct store_block_info *b = store_block_info(t, i);

		entries[i] = (struct store_entry){
			.offset = b->offset,
			.bytes = b->bytes,
			.number = b->number,
			.first_row = b->first_row,
			.time_min_ns = b->time_min_ns,
			.time_max_ns = b->time_max_ns,
			.dur_max_ns = b->dur_max_ns,
			.rows = b->rows,
		};
	}
	store_format_index(out, entries, t->count, t->blocks_total, t->rows_total, t->file.salt);
	return buf_error(out);
}

static int write_index(const struct store_table *t, int fd, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const struct store_block_info *last = t->count ? &t->blocks[t->count - 1] : NULL;
	off_t end = last ? (off_t)(last->offset + last->bytes) : (off_t)t->file.head_bytes;
	int rc = format_index(t, &out);

	if (rc == 0 && ftruncate(fd, end) < 0)
		rc = -errno;
	if (rc == 0)
		rc = fs_write_all(fd, out.data, out.len);
	return rc < 0 ? err_sys(err, -rc, "cannot write the index of the table '%s'", t->name) : 0;
}

int store_table_recover(int dirfd, const char *name, struct store_loss *loss, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = open_unused(dirfd, name, err);
	struct store_table *t;
	int rc;

	if (fd < 0)
		return fd;
	rc = store_table_open(&t, dirfd, name, err);
	if (rc < 0)
		return rc;
	rc = store_table_check(t, err);
	if (loss)
		store_table_loss(t, loss);
	if (rc == 0 && !t->has_index)
		rc = write_index(t, fd, err);
	store_table_free(t);
	return rc;
}

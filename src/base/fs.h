/* fs: common file operations, and the path rules. */
#ifndef SONDE_BASE_FS_H
#define SONDE_BASE_FS_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Appends the whole file to out; -EFBIG if it is longer than max bytes. On failure out is unchanged. */
int fs_read_file(int dirfd, const char *path, size_t max, struct buf *out, struct sonde_err *err);
/* The same for an untrusted name: reads regular files only and follows no symbolic link; else -EINVAL. */
int fs_read_plain_file(int dirfd, const char *path, size_t max, struct buf *out, struct sonde_err *err);
int fs_write_all(int fd, const void *bytes, size_t n); /* 0 or -errno; retries after EINTR and short writes */
/* Writes path by a temporary file and rename: readers see the old or the new text, never a part. Mode 0600. */
int fs_replace_file(int dirfd, const char *path, const void *bytes, size_t n, struct sonde_err *err);
/* The same for a path given by the user: a device, a pipe or a link is written into, not replaced. */
int fs_write_output(const char *path, const void *bytes, size_t n, struct sonde_err *err);
int fs_mkdir_p(const char *path, mode_t mode, struct sonde_err *err);
int fs_remove_tree(int dirfd, const char *path); /* follows no symlink; 0 or -errno of the first failure */
/* Creates a private directory NAME.XXXXXX in $TMPDIR, else /tmp. On failure path is empty. */
#define FS_TEMP_BYTES 512
int fs_temp_dir(char path[FS_TEMP_BYTES], const char *name, struct sonde_err *err);
/* 0 if exec would find the program, by its path or in PATH; else the errno that exec would set. */
int fs_check_program(const char *program);
/* The installation prefix of the running program: /x for /x/bin/sonde and /x/libexec/sonde/sonde-record. */
int fs_prefix(struct buf *out, struct sonde_err *err);
/* Converts text to a file name of at most max bytes: letters, digits, '.', '_', '-' are kept, others become '_';
 * never empty, never starts with '.' or '-'. */
void fs_safe_name(struct buf *out, const char *text, size_t max);

/*
 * A private temporary directory that is removed even if its process is killed.
 *
 * Each process holds a lock on its directory; the lock goes away with the process, however it ends. A leftover of a
 * killed process is recognized by its name and by not being locked, so reused process IDs do not matter. The next
 * process with the same name removes it. Only directories created here may use these names.
 */
struct tempdir {
	char path[FS_TEMP_BYTES]; /* empty: no directory */
	int lock;                 /* private */
};

#define TEMPDIR_INIT { .path = "" }

/* Creates an empty NAME.XXXXXX in $TMPDIR, else /tmp. */
int tempdir_make(struct tempdir *t, const char *name, struct sonde_err *err);
void tempdir_release(struct tempdir *t); /* removes it with its contents */
/* Removes the directories of this name that killed processes of this user have left. */
void tempdir_sweep(const char *name);

#endif

/*
 * fs: the few file operations everybody needs, and the path rules.
 */
#ifndef SONDE_BASE_FS_H
#define SONDE_BASE_FS_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Append the whole file to out; -EFBIG when it is longer than max bytes. On failure out is as before. */
int fs_read_file(int dirfd, const char *path, size_t max, struct buf *out, struct sonde_err *err);
/* The same for a name that others may have made: only a regular file is read, and no link is followed; -EINVAL. */
int fs_read_plain_file(int dirfd, const char *path, size_t max, struct buf *out, struct sonde_err *err);
int fs_write_all(int fd, const void *bytes, size_t n); /* 0 or -errno; restarts after EINTR and short writes */
/* Write path by a temporary file and rename: readers see the old or the new text, never half. Mode 0600. */
int fs_replace_file(int dirfd, const char *path, const void *bytes, size_t n, struct sonde_err *err);
/* The same for a path that a user names: what is no file (a device, a pipe, a link) is written into, and stays. */
int fs_write_output(const char *path, const void *bytes, size_t n, struct sonde_err *err);
int fs_mkdir_p(const char *path, mode_t mode, struct sonde_err *err);
int fs_remove_tree(int dirfd, const char *path); /* follows no symlink; 0 or -errno of the first failure */
/* Make a directory NAME.XXXXXX of our own in $TMPDIR, else /tmp. On failure path is empty. */
#define FS_TEMP_BYTES 512
int fs_temp_dir(char path[FS_TEMP_BYTES], const char *name, struct sonde_err *err);
/* 0 when exec would find such a program, by its path or in a directory of PATH; else the errno that it would get. */
int fs_check_program(const char *program);
/* Directory of the running program's prefix: /x for /x/bin/sonde and /x/libexec/sonde/sonde-record. */
int fs_prefix(struct buf *out, struct sonde_err *err);
/* A file name of at most max bytes made of text: letters, digits, '.', '_', '-' kept, the rest '_'; never empty,
 * never starting with '.' or '-'. */
void fs_safe_name(struct buf *out, const char *text, size_t max);

#endif

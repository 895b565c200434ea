/*
 * scratch: a directory for the files of a test, which is also the current one, and PREFIX of the code under test.
 */
#ifndef SONDE_TEST_SESSION_SCRATCH_H
#define SONDE_TEST_SESSION_SCRATCH_H

#include "support.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[64];

int __wrap_fs_prefix(struct buf *out, struct sonde_err *err); /* NOLINT: the linker's name */
int __wrap_fs_prefix(struct buf *out, struct sonde_err *err)  /* NOLINT: the linker's name */
{
	(void)err;
	buf_adds(out, scratch);
	return 0;
}

static inline int scratch_make(void **state)
{
	(void)state;
	snprintf(scratch, sizeof(scratch), "/tmp/sonde-session-XXXXXX");
	assert_non_null(mkdtemp(scratch));
	assert_int_equal(chdir(scratch), 0);
	return 0;
}

static inline int scratch_remove(void **state)
{
	(void)state;
	assert_int_equal(chdir("/"), 0);
	return fs_remove_tree(AT_FDCWD, scratch);
}

static inline void scratch_write(const char *path, const char *text)
{
	struct sonde_err err;

	assert_int_equal(fs_replace_file(AT_FDCWD, path, text, strlen(text), &err), 0);
}

/* A program that /bin/sh interprets. */
static inline void scratch_script(const char *path, const char *text)
{
	struct buf whole = BUF_INIT;

	buf_addf(&whole, "#!/bin/sh\n%s", text);
	scratch_write(path, whole.data);
	buf_release(&whole);
	assert_int_equal(chmod(path, 0700), 0);
}

/* The contents, until the next call; "" if there is no such file. */
static inline const char *scratch_read(const char *path)
{
	static struct buf text = BUF_INIT;

	buf_reset(&text);
	if (fs_read_file(AT_FDCWD, path, 1 << 20, &text, NULL) < 0)
		return "";
	return text.len ? text.data : "";
}

#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_remove)

#endif

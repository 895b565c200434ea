/*
 * journal: a file of JSON lines that grows at its end, survives any crash, and has one writer.
 *
 * A line is on disk when journal_append returns. If it cannot be written whole (full disk), nothing of it stays; what
 * a killed process or a power failure left of a line is not read as a line, and is removed before the next one is
 * written. Lines are never changed. Parsing them is up to the caller: base knows no JSON reader.
 *
 *	rc = journal_open(&j, path, 0, 0600, &text, err);
 *	for (size_t at = 0, size; (line = journal_line(&text, &at, &size));)
 *		parse(line, size);
 *	rc = journal_append(&j, &new_line, err);
 */
#ifndef SONDE_BASE_JOURNAL_H
#define SONDE_BASE_JOURNAL_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

#define JOURNAL_BYTES_MAX ((size_t)1 << 30)

enum journal_flags {
	JOURNAL_NEW = 1, /* -EEXIST if the file exists */
	/*
	 * A log that several processes write through one descriptor and none reads back: no lock, no sync, follows no
	 * symbolic link.
	 */
	JOURNAL_SHARED = 2,
};

struct journal {
	int fd;           /* -1: closed */
	size_t cut_bytes; /* size of the incomplete last line at opening */
	char *path;       /* NULL: closed */
	/* private */
	bool is_shared;
	bool is_cut;  /* the last line is incomplete */
	off_t length; /* of the complete lines, if is_cut */
};

#define JOURNAL_INIT \
	{ \
		.fd = -1 \
	} /* all zeros is closed as well */

/*
 * Opens or creates it, and sets `text` to its contents (NULL: JOURNAL_NEW or JOURNAL_SHARED). -EBUSY if another process
 * writes it. After a failure it is closed.
 */
int journal_open(struct journal *j, const char *path, int flags, mode_t mode, struct buf *text, struct sonde_err *err);
void journal_close(struct journal *j);
/* Returns the next complete line from *at on, without its newline, or NULL; *at moves behind it. */
const char *journal_line(const struct buf *text, size_t *at, size_t *size);
/* Adds the newline and writes the line. Does nothing if j is closed. */
int journal_append(struct journal *j, struct buf *line, struct sonde_err *err);
/* Removes an incomplete last line now, not at the next append: for a caller that has accepted the lines before it. */
int journal_trim(struct journal *j, struct sonde_err *err);
/* Removes all lines: another journal starts. */
int journal_clear(struct journal *j, struct sonde_err *err);

#endif

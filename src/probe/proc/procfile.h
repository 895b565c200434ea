/*
 * procfile: one file of /proc, /sys or a cgroup, kept open and read repeatedly (a
 * feed).
 *
 * A feed kind defines how to parse the file. Values go to the counters of a line, which
 * is found by its key ("cpu0", "vda"), so devices that appear or disappear do not shift
 * the values of others. A new file is one row in procfiles.c.
 */
#ifndef SONDE_PROBE_PROC_PROCFILE_H
#define SONDE_PROBE_PROC_PROCFILE_H

#include "base/buf.h"
#include "probe/proc/counters.h"

#include <stdbool.h>
#include <stddef.h>

#define FEED_KEY_BYTES 48
#define FEED_FIELDS_MAX 12

/* One number: in a file of pairs selected by key, in a file of columns by position. */
struct feed_field {
	const char *key;  /* pairs: as in the file; columns: NULL */
	unsigned column;  /* columns: index of the number in the line, from 0 */
	const char *name; /* last part of the counter's name */
	const char *unit;
	bool is_total;
	double scale;
};

struct feed;
struct feed_kind {
	const char *prefix; /* first part of the counters' names */
	const char *path;   /* NULL: given to feed_open */
	void (*read)(struct feed *f, struct counters *c, const char *text, const char *end);
	const struct feed_field *fields; /* terminated by name NULL */
};

struct feed_line {
	char key[FEED_KEY_BYTES];
	struct counter counters[FEED_FIELDS_MAX];
};

struct feed {
	const struct feed_kind *kind;
	int fd;
	struct feed_line *lines;
	size_t count;
	/* private */
	size_t cap, hint;
	struct counter *pairs; /* files of pairs: one per field */
};

/* Returns false if the file does not exist or cannot be read. */
bool feed_open(struct feed *f, const struct feed_kind *kind, const char *path);
/* Parses the values from the file's text, which two feeds may share. */
void feed_parse(struct feed *f, struct counters *c, const struct buf *text);
void feed_close(struct feed *f, struct counters *c);

extern const struct feed_kind feed_kinds[];                     /* of the machine; terminated by prefix NULL */
extern const struct feed_kind feed_group_v2[], feed_group_v1[]; /* of a cgroup: path is the file in its directory */
extern const char *const feed_group_v1_controllers[];           /* parallel to feed_group_v1: the row's controller */

/* Reads a small file into `room`; false if it cannot be read. */
bool feed_text(int fd, struct buf *room);

#endif

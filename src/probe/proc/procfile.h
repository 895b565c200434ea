/*
 * feed: one file of /proc, /sys or a control group, kept open and read again and again.
 *
 * A feed kind knows how to read the file's text; what it finds goes to the
 * counters of a line, which is found by its key ("cpu0", "vda"), so a device that
 * appears or goes shifts nobody else's numbers. A new file is one row in procfiles.c.
 */
#ifndef SONDE_PROBE_PROC_PROCFILE_H
#define SONDE_PROBE_PROC_PROCFILE_H

#include "base/buf.h"
#include "probe/proc/counters.h"

#include <stdbool.h>
#include <stddef.h>

#define FEED_KEY_BYTES 48
#define FEED_FIELDS_MAX 12

/* One number: in a file of pairs by its key, in a file of columns by its place. */
struct feed_field {
	const char *key;  /* pairs: as in the file; columns: NULL */
	unsigned column;  /* columns: which number of the line, from 0 */
	const char *name; /* last part of the counter's name */
	const char *unit;
	bool is_total;
	double scale;
};

struct feed;
struct feed_kind {
	const char *prefix; /* first part of the counters' names */
	const char *path;   /* NULL: the opener says */
	void (*read)(struct feed *f, struct counters *c, const char *text, const char *end);
	const struct feed_field *fields; /* ends with name NULL */
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
	struct counter *pairs; /* of files of pairs: one a field */
};

/* false: there is no such file, or it cannot be read. */
bool feed_open(struct feed *f, const struct feed_kind *kind, const char *path);
/* Take the values out of the file's text, which two feeds may share. */
void feed_parse(struct feed *f, struct counters *c, const struct buf *text);
void feed_close(struct feed *f, struct counters *c);

extern const struct feed_kind feed_kinds[]; /* of the machine; ends with prefix NULL */
extern const struct feed_kind feed_group_v2[],
		feed_group_v1[];                      /* of a control group: path is the file in its directory */
extern const char *const feed_group_v1_controllers[]; /* beside feed_group_v1: the controller it belongs to */

/* The whole text of a small file, at data of `room`; false when it cannot be read. */
bool feed_text(int fd, struct buf *room);

#endif

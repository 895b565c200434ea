/*
 * gzip-read: reads gzip files of any number of members, starting at any member.
 *
 * Inflating (ISA-L) verifies the checksum of every member. If a file turns out to be truncated or damaged, the data up
 * to the last whole member is valid and was already returned; the status reports the problem.
 */
#ifndef SONDE_PFW_GZIP_READ_H
#define SONDE_PFW_GZIP_READ_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum pfw_gzip_status {
	PFW_GZIP_MORE,    /* more data to read */
	PFW_GZIP_MEMBER,  /* end of a member; pfw_gzip_position is where the next one should start */
	PFW_GZIP_END,     /* the file ended after a member */
	PFW_GZIP_CUT,     /* the file ended inside a member */
	PFW_GZIP_DAMAGED, /* invalid deflate stream or checksum */
	PFW_GZIP_JUNK,    /* the data after the last member is not a member */
	PFW_GZIP_FAILED   /* read error: pfw_gzip_error */
};

struct pfw_gzip;

/* Reads members of fd from offset `from`. The caller keeps ownership of fd. 0 or -ENOMEM. */
int pfw_gzip_open(struct pfw_gzip **out, int fd, uint64_t from);
void pfw_gzip_free(struct pfw_gzip *g); /* accepts NULL */
/*
 * Reads up to `room` bytes into out and sets *n. Any status may come with data. Do not call again after a final status.
 */
enum pfw_gzip_status pfw_gzip_read(struct pfw_gzip *g, char *out, size_t room, size_t *n);
uint64_t pfw_gzip_position(const struct pfw_gzip *g); /* file offset of the data consumed */
int pfw_gzip_error(const struct pfw_gzip *g);         /* errno */

/* Returns whether the bytes are a gzip member header. */
bool pfw_gzip_is_head(const void *bytes, size_t n);
#define PFW_GZIP_HEAD_BYTES 10

/*
 * Finds probable starts of members: the first, and others at least `stride` bytes apart, in ascending order. A header
 * may match by chance: a reader that goes from one start to the next must arrive exactly there.
 */
int pfw_gzip_scan(int fd, uint64_t bytes, uint64_t stride, uint64_t **starts, size_t *count, struct sonde_err *err);

/* Appends text as one gzip member; 0 or -ENOMEM. */
int pfw_gzip_deflate(struct buf *out, const void *text, size_t n);

/*
 * A stream that compresses what is written to it.
 *
 * Each member holds about GZIP_MEMBER_BYTES of text, and whole lines if the text has lines. So several threads can read
 * the file, and a truncated file loses only its last member. A write error fails the stream, with errno, at the latest
 * when it is closed.
 */

#define GZIP_MEMBER_BYTES ((size_t)4 << 20)

/* Closing it also closes `under`. NULL and errno on failure; the caller then still owns `under`. */
FILE *gzip_stream_open(FILE *under);

#endif

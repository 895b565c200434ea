/*
 * pfw-gzip: gzip files of any number of members, read from any member on.
 *
 * Inflating (ISA-L) checks every member's checksum. What was read before a file
 * turned out to be cut or damaged is good up to the last whole member, and has
 * been handed out by then: the status says what happened.
 */
#ifndef SONDE_PFW_GZIP_READ_H
#define SONDE_PFW_GZIP_READ_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pfw_gzip_status {
	PFW_GZIP_MORE,    /* there is more to read */
	PFW_GZIP_MEMBER,  /* a member ended; pfw_gzip_position is where the next should begin */
	PFW_GZIP_END,     /* the file ended behind a member */
	PFW_GZIP_CUT,     /* the file ended inside one */
	PFW_GZIP_DAMAGED, /* no deflate stream, or a wrong checksum */
	PFW_GZIP_JUNK,    /* what follows the last member is none */
	PFW_GZIP_FAILED   /* reading failed: pfw_gzip_error */
};

struct pfw_gzip;

/* Read members of fd, which stays the caller's, from offset `from` on. 0 or -ENOMEM. */
int pfw_gzip_open(struct pfw_gzip **out, int fd, uint64_t from);
void pfw_gzip_free(struct pfw_gzip *g); /* NULL is fine */
/* Up to `room` bytes into out, *n of them; some may come with any status. After one that ends, call no more. */
enum pfw_gzip_status pfw_gzip_read(struct pfw_gzip *g, char *out, size_t room, size_t *n);
uint64_t pfw_gzip_position(const struct pfw_gzip *g); /* in the file, of what was used */
int pfw_gzip_error(const struct pfw_gzip *g);         /* errno */

/* Is this how a gzip member begins? */
bool pfw_gzip_is_head(const void *bytes, size_t n);
#define PFW_GZIP_HEAD_BYTES 10

/*
 * Where members probably begin: the first, and others at least `stride` bytes
 * apart, in rising order. What looks like the head of a member may be chance:
 * who reads from one to the next must arrive exactly there.
 */
int pfw_gzip_scan(int fd, uint64_t bytes, uint64_t stride, uint64_t **starts, size_t *count, struct sonde_err *err);

/* Append text as one gzip member; 0 or -ENOMEM. */
int pfw_gzip_deflate(struct buf *out, const void *text, size_t n);

#endif

/*
 * buf: a growable byte buffer that is always a C string.
 *
 * Invariants: `data` is never NULL after buf_init, data[len] is '\0', and len
 * never passes `max`. Growth beyond `max` or out of memory sets `is_failed` and
 * drops the bytes and all that come after them, so that what is there has no
 * holes; callers may append freely and look once at the end (buf_error). A
 * buffer is bytes: it knows no encodings.
 */
#ifndef SONDE_BASE_BUF_H
#define SONDE_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data;
	size_t len;
	/* private */
	size_t cap;
	size_t max;
	bool is_failed;
};

#define BUF_MAX_DEFAULT ((size_t)1 << 30)

extern char buf_empty[];
#define BUF_INIT { .data = buf_empty, .max = BUF_MAX_DEFAULT }

void buf_init(struct buf *b, size_t max); /* max 0: BUF_MAX_DEFAULT */
void buf_release(struct buf *b);          /* contents freed, reusable as after init */
void buf_reset(struct buf *b);            /* length 0, memory kept, failure forgotten */
char *buf_take(struct buf *b);            /* hand the malloc'ed string to the caller; b as after init */
int buf_error(const struct buf *b);       /* 0, or -ENOMEM when an append was dropped */

void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_adds(struct buf *b, const char *text);
void buf_addc(struct buf *b, char c);
/* As text of an HTML page or the value of an attribute in double quotes. NULL: nothing. */
void buf_add_html(struct buf *b, const char *text);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Make sure that n more bytes fit; false, and a failure, when they do not. */
bool buf_reserve(struct buf *b, size_t n);
/* Room for n more bytes at data+len, zeroed, or NULL; the caller adds to len what it used. */
char *buf_room(struct buf *b, size_t n);
/* After buf_reserve and writing at data+len: the text goes to here now. */
void buf_set_end(struct buf *b, char *end);

#endif

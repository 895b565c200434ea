/*
 * buf: a growable byte buffer that is always a C string.
 *
 * Invariants: `data` is never NULL after buf_init, data[len] is '\0', and len never exceeds `max`. Growing beyond
 * `max` or running out of memory sets `is_failed` and drops these bytes and all later ones, so that the contents have
 * no holes. Callers may append freely and check once at the end (buf_error). A buffer holds bytes, in any encoding.
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
void buf_reset(struct buf *b);            /* length 0; keeps the memory, clears the failure */
char *buf_take(struct buf *b);            /* transfers the malloc'ed string to the caller; b is as after init */
int buf_error(const struct buf *b);       /* 0, or -ENOMEM if an append was dropped */

void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_adds(struct buf *b, const char *text);
void buf_addc(struct buf *b, char c);
/* Appends text escaped for HTML text and double-quoted attribute values. NULL appends nothing. */
void buf_add_html(struct buf *b, const char *text);
void buf_add_base64(struct buf *b, const void *bytes, size_t n);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Makes room for n more bytes; returns false and sets the failure if they do not fit. */
bool buf_reserve(struct buf *b, size_t n);
/* Returns n zeroed bytes at data+len, or NULL; the caller adds the bytes it used to len. */
char *buf_room(struct buf *b, size_t n);
/* After buf_reserve and writing at data+len: sets the end of the text. */
void buf_set_end(struct buf *b, char *end);

#endif

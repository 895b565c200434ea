/*
 * intern: the process's names, each kept once and known by a number.
 *
 * The table is private memory without locks: any thread or signal handler may add
 * to it, a forked child inherits it with the numbers. What a ring has not yet been
 * told (a STRING record) it is told at the first use in each process image. At most
 * STRINGS_MAX names are kept, and names of at most STRING_BYTES_MAX bytes: of the
 * others all that is known is that there were more.
 */
#ifndef SONDE_TRACER_INTERN_H
#define SONDE_TRACER_INTERN_H

#include "tracer/tracer.h"

#define STRINGS_MAX (1u << 16)
#define STRING_BYTES_MAX 1024u
#define CUT_MARK_BYTES 3u /* … stands at the end of a text that was cut */

struct string {
	uint32_t hash;
	uint32_t bytes;
	uint32_t epoch; /* of the image whose ring knows it */
	uint32_t reserved;
	uint64_t metric, step, knob; /* metrics-board.c: epoch << 32 | slot + 1 */
	char text[];
};

/* The number of a text, never 0. `bytes` SIZE_MAX: up to its NUL. */
uint32_t intern(const char *text, size_t bytes);

/* What a number stands for, or NULL when it is none of ours. */
struct string *intern_string(uint32_t id);

/* See to it that this image's ring knows the number. The thread has a chunk. */
void intern_use(uint32_t id);

/* How many bytes of a text to keep in `room` bytes: when it must be cut, whole characters before the mark. */
size_t cut_length(const char *text, size_t bytes, size_t room);

/* Write a text cut to `room`, with the mark if it is; what was written. */
size_t cut_copy(char *to, const char *text, size_t bytes, size_t room);

#endif

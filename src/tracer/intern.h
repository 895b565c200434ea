/*
 * intern: the names used in the process, each stored once and identified by a number.
 *
 * The table is private memory without locks: any thread or signal handler may add to it, and a forked child inherits
 * it with the numbers. A name is defined in the ring (a STRING record) at its first use in each process image. The
 * table holds up to STRINGS_MAX names, truncated to STRING_BYTES_MAX bytes; all further names share "(more names)".
 */
#ifndef SONDE_TRACER_INTERN_H
#define SONDE_TRACER_INTERN_H

#include "tracer/tracer.h"

#define STRINGS_MAX (1u << 16)
#define STRING_BYTES_MAX 1024u
#define CUT_MARK_BYTES 3u /* … marks the end of a truncated text */

struct string {
	uint32_t hash;
	uint32_t bytes;
	uint32_t epoch; /* of the image with this name in its ring */
	uint32_t reserved;
	uint64_t metric, step, knob; /* metrics-board.c: epoch << 32 | slot + 1 */
	char text[];
};

/* The number of a text, never 0. `bytes` SIZE_MAX: up to its NUL. */
uint32_t intern(const char *text, size_t bytes);

/* The name with this number, or NULL if it is invalid. */
struct string *intern_string(uint32_t id);

/* Define the name in this image's ring if needed. The thread has a chunk. */
void intern_use(uint32_t id);

/* How many bytes of a text to keep in `room` bytes: a truncated text ends with a whole character before the mark. */
size_t cut_length(const char *text, size_t bytes, size_t room);

/* Copy a text truncated to `room`, with the mark if it is. Returns the bytes written. */
size_t cut_copy(char *to, const char *text, size_t bytes, size_t room);

#endif

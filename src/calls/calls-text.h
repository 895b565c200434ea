/*
 * calls-text: the table of calls as text, and its hash.
 *
 * A ring has the numbers of calls, which are positions in the table of the build that wrote it. Each segment of a ring
 * therefore has CALLS_HASH of its build (calls-hash.h, generated), and the ring directory has one file `calls-<hash>`
 * for each build: this text, whose XXH64 is the hash. Readers use that table instead of their own if the hashes differ.
 *
 * A line is `name CATEGORY KIND BYTES WAIT DFT names`; calls.h documents the values.
 */
#ifndef SONDE_CALLS_CALLS_TEXT_H
#define SONDE_CALLS_CALLS_TEXT_H

#include "calls/calls.h"

#define CALLS_FILE_BYTES sizeof("calls-0123456789abcdef") /* room for the name of the file */
#define CALLS_ROWS_MAX 4096u                              /* of a table of another build */

extern const char calls_text[] __attribute__((visibility("hidden")));
extern const size_t calls_text_bytes __attribute__((visibility("hidden")));

/* The name of the file; returns its end. */
static inline char *calls_file_name(char name[CALLS_FILE_BYTES], uint64_t hash)
{
	char *at = (char *)__builtin_memcpy(name, "calls-", 6) + 6;
	for (int shift = 60; shift >= 0; shift -= 4)
		*at++ = "0123456789abcdef"[hash >> shift & 15];
	*at = '\0';
	return at;
}

#endif

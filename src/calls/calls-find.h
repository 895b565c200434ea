/*
 * calls-find: lookup of calls by name, for readers of runs.
 *
 * Runs carry the facts of their calls in the table `call`. Runs of older versions and imported ones do not: for them
 * the row of the same name is used. A name matches with and without the decorations that libraries and kernels add:
 * leading underscores, `GI_`, `libc_`, `isoc99_`, `IO_`, and `64`, `_chk`, `_unlocked` at the end.
 */
#ifndef SONDE_CALLS_CALLS_FIND_H
#define SONDE_CALLS_CALLS_FIND_H

#include "calls/calls.h"

#include <stdbool.h>

/* The row of a function or system call; NULL if unknown. The name need not be NUL-terminated. */
const struct call_info *calls_find(const char *name, size_t n);

/* Names of the enum values, as used in tables and options; "" for a value out of range. */
const char *call_category_word(unsigned category);
const char *call_kind_word(unsigned kind);
const char *call_bytes_word(unsigned bytes);
const char *call_wait_word(unsigned wait);

/* The enum value of a name; the enum's first value if unknown, -1 if the enum has no such default. */
int call_category_of(const char *word, size_t n);
int call_kind_of(const char *word, size_t n);
int call_bytes_of(const char *word, size_t n);
int call_wait_of(const char *word, size_t n);

extern const char *const call_category_words[CALL_CATEGORY_COUNT + 1]; /* NULL at the end */

/*
 * The number of bytes that a call moved, from its recorded values; INT64_MIN (null) if it moves none, if the number is
 * not recorded, or if it failed. A result larger than `size` is ignored.
 */
int64_t call_moved_bytes(enum call_bytes from, int64_t result, int64_t size, int64_t arg0, int64_t arg1);

bool call_kind_is_network(unsigned kind);
bool call_kind_is_process(unsigned kind);

#endif

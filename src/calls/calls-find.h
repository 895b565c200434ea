/*
 * calls-find: the table of calls for readers, who have a name instead of a number.
 *
 * Runs carry the facts of their calls in the table `call`. Runs of older versions and imported ones do not: for them
 * the row of the same name decides. A name matches with and without the decorations that libraries and kernels
 * add: leading underscores, `GI_`, `libc_`, `isoc99_`, `IO_`, and `64`, `_chk`, `_unlocked` at the end.
 */
#ifndef SONDE_CALLS_CALLS_FIND_H
#define SONDE_CALLS_CALLS_FIND_H

#include "calls/calls.h"

#include <stdbool.h>

/* The row of a function or system call; NULL: none. The name need not end with a NUL. */
const struct call_info *calls_find(const char *name, size_t n);

/* Words of the enums, as tables and options have them; "" for a value out of range. */
const char *call_category_word(unsigned category);
const char *call_kind_word(unsigned kind);
const char *call_bytes_word(unsigned bytes);
const char *call_wait_word(unsigned wait);

/* The value of a word; the enum's first value for an unknown one, -1 where it has no such value. */
int call_category_of(const char *word, size_t n);
int call_kind_of(const char *word, size_t n);
int call_bytes_of(const char *word, size_t n);
int call_wait_of(const char *word, size_t n);

extern const char *const call_category_words[CALL_CATEGORY_COUNT + 1]; /* NULL at the end */

/*
 * The number of bytes that a call moved, from what was recorded of it; INT64_MIN (null) when it moves none, when that
 * is not recorded, or when it failed. A result larger than `size` is not believed.
 */
int64_t call_moved_bytes(enum call_bytes from, int64_t result, int64_t size, int64_t arg0, int64_t arg1);

bool call_kind_is_network(unsigned kind);
bool call_kind_is_process(unsigned kind);

#endif

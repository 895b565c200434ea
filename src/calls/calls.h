/*
 * calls: the properties of every call, in one table.
 *
 * calls.def has one row per function. Everything that handles calls is generated from it or looks it up: the wrappers
 * of libsonde, the tables of system calls, the columns of the table `call`, the readers of foreign traces, the
 * categories of options and output. A new hook is a row.
 *
 * A row starts with the properties of the call, a tuple in parentheses:
 *
 *   (category, kind, bytes, wait, dft)
 *       category  SONDE_CATEGORIES: what users select with --only and --without
 *       kind      CALL_KINDS: what the call does
 *       bytes     CALL_BYTES: which recorded value is the number of bytes moved
 *       wait      CALL_WAITS: what a thread waits for while it is blocked in the call
 *       dft       CALL_DFTS: the first generation of DFTracer's format that has the call
 *
 * and is one of
 *
 *   HOOK(how, failure, type, name, (parameters), (arguments), "names", fields...)
 *       A wrapper generated from the row. `failure` is the letter of how `type` reports
 *       an error (tracer/hook.h has the list). `names` are those of the recorded plain
 *       arguments, comma-separated; the first one may be `'name`, the name of the text
 *       argument. `fields` initialize a struct call after the real call has returned
 *       `result`.
 *   HOOK2(how, failure, type, name, alias, ...), HOOK3(... name, alias, alias, ...)
 *       The same for a function with several names; likewise for the rows below.
 *   VOID(how, name, (parameters), (arguments), "names", fields...)
 *       A function that returns void.
 *   FDCALL(as HOOK)
 *       A call that changes what a descriptor or the current directory refers to: handled
 *       even if its category is not recorded.
 *   INLINE(as HOOK)
 *       No strings, no effects, recorded inline: for the most frequent calls.
 *   OFFSET(as HOOK)
 *       INLINE for a call that moves the offset of its parameter `fd`.
 *   CLOSE(how, failure, type, name, (parameters), (arguments), fd)
 *       A call that closes the descriptor `fd`.
 *   PREGROW(as HOOK)
 *       A call after which the ring may be unable to grow.
 *   CHARIO(how, type, name, (parameters), (arguments), stream, is_failed)
 *       A stdio call of one character: recorded as runs, not one by one.
 *   TAILCALL(how, name, "names")
 *       Recorded before the real call, which is jumped to: for functions that inspect
 *       their caller, never return, or have arguments that cannot be forwarded. The
 *       family's file has `before_<name>`, which records and returns the real function.
 *   MANUAL(how, name, "names")
 *       A hand-written wrapper in the family's file.
 *   SYSCALL(kernel_name, name, "letters", effect)
 *       The system call behind the function `name`; calls/syscalls.h has the letters
 *       and the effects.
 *   SYSNAME(kernel_name, name, "letters", effect)
 *       The same for a system call that --syscalls does not record: foreign traces have it,
 *       or its effect matters.
 *
 * The position of a row is the call's number in a ring. Builds with other rows are told apart by the hash of the table,
 * CALLS_HASH: calls-text.h.
 */
#ifndef SONDE_CALLS_CALLS_H
#define SONDE_CALLS_CALLS_H

#include "sonde/shm.h"

#include <stddef.h>
#include <stdint.h>

/* Categories are SONDE_CATEGORIES of sonde/shm.h. The other lists are X(NAME, word). */
#define CALL_KINDS(X) \
	X(OTHER, other) \
	X(READ, read) \
	X(WRITE, write) \
	X(COPY, copy) /* from `file` to `file2`: the last recorded argument is the identity of the target */ \
	X(OPEN, open) \
	X(CLOSE, close) \
	X(STAT, stat) \
	X(SEEK, seek) \
	X(SYNC, sync) \
	X(DIR, dir) \
	X(MAP, map) \
	X(META, meta) \
	X(SOCKET, socket) /* creates or configures a socket */ \
	X(SEND, send) \
	X(RECV, recv) \
	X(CONNECT, connect) \
	X(ACCEPT, accept) \
	X(POLL, poll) \
	X(FORK, fork) \
	X(EXEC, exec) \
	X(WAIT, wait) \
	X(EXIT, exit)

#define CALL_BYTES(X) \
	X(NONE, none)       /* moves no bytes */ \
	X(UNKNOWN, unknown) /* moves bytes, but their number is not recorded */ \
	X(RESULT, result)   /* the result, if at most `size` */ \
	X(COUNT, count)     /* the result */ \
	X(LENGTH, length)   /* the result, the length of the text; runs of older versions have 1 there */ \
	X(ITEMS, items)     /* the result times the first argument, the size of an item */ \
	X(ARG1, arg1)       /* the second argument; runs of older versions have ITEMS */ \
	X(SIZE, size)       /* `size`, if the call succeeded */ \
	X(RUN, run)         /* `size`: many calls of one byte, recorded together */

#define CALL_WAITS(X) \
	X(NONE, none) \
	X(FD, fd) /* depends on the descriptor: file, pipe, socket, terminal */ \
	X(NETWORK, network) \
	X(EVENT, event) \
	X(CHILD, child) \
	X(SLEEP, sleep) \
	X(LOCK, lock) \
	X(CONDITION, condition) \
	X(DISK, disk)

#define CALL_DFTS(X) \
	X(NO, no)     /* neither bound nor written */ \
	X(SEEN, seen) /* bound, since it changes descriptors or processes; not written */ \
	X(C, c) \
	X(D, d) \
	X(E, e) \
	X(ALSO, also) /* written, unlike the rest of its category */ \
	X(ONLY, only) /* hooked by libdftracer alone */

#define CALL_CATEGORY_ENUM_(NAME, bit, word) CALL_CATEGORY_##NAME = (bit),
#define CALL_KIND_ENUM_(NAME, word) CALL_KIND_##NAME,
#define CALL_BYTES_ENUM_(NAME, word) CALL_BYTES_##NAME,
#define CALL_WAIT_ENUM_(NAME, word) CALL_WAIT_##NAME,
#define CALL_DFT_ENUM_(NAME, word) CALL_DFT_##NAME,
enum call_category { SONDE_CATEGORIES(CALL_CATEGORY_ENUM_) CALL_CATEGORY_COUNT };
enum call_kind { CALL_KINDS(CALL_KIND_ENUM_) CALL_KIND_COUNT };
enum call_bytes { CALL_BYTES(CALL_BYTES_ENUM_) CALL_BYTES_COUNT_ };
enum call_wait { CALL_WAITS(CALL_WAIT_ENUM_) CALL_WAIT_COUNT };
enum call_dft { CALL_DFTS(CALL_DFT_ENUM_) CALL_DFT_COUNT };

/* The categories that enable a row, as SONDE_CAT_ bits: HOW_MASK how. */
#define HOW_MASK(category, kind, bytes, wait, dft) HOW_MASK_##dft(category)
#define HOW_MASK_NO(category) SONDE_CAT_##category
#define HOW_MASK_SEEN(category) SONDE_CAT_##category
#define HOW_MASK_C(category) SONDE_CAT_##category
#define HOW_MASK_D(category) SONDE_CAT_##category
#define HOW_MASK_E(category) SONDE_CAT_##category
#define HOW_MASK_ALSO(category) (SONDE_CAT_##category | SONDE_CAT_DFTRACER)
#define HOW_MASK_ONLY(category) SONDE_CAT_DFTRACER

#define TWICE(row, how, failure, type, name, alias, ...) \
	row(how, failure, type, name, __VA_ARGS__) row(how, failure, type, alias, __VA_ARGS__)
#define THRICE(row, how, failure, type, name, alias, alias2, ...) \
	TWICE(row, how, failure, type, name, alias, __VA_ARGS__) row(how, failure, type, alias2, __VA_ARGS__)
#define HOOK2(...) TWICE(HOOK, __VA_ARGS__)
#define HOOK3(...) THRICE(HOOK, __VA_ARGS__)
#define INLINE2(...) TWICE(INLINE, __VA_ARGS__)
#define INLINE3(...) THRICE(INLINE, __VA_ARGS__)
#define OFFSET2(...) TWICE(OFFSET, __VA_ARGS__)
#define OFFSET3(...) THRICE(OFFSET, __VA_ARGS__)
#define FDCALL2(...) TWICE(FDCALL, __VA_ARGS__)
#define CLOSE2(...) TWICE(CLOSE, __VA_ARGS__)
#define VOID2(how, name, alias, ...) VOID(how, name, __VA_ARGS__) VOID(how, alias, __VA_ARGS__)
#define CHARIO2(how, type, name, alias, ...) CHARIO(how, type, name, __VA_ARGS__) CHARIO(how, type, alias, __VA_ARGS__)
#define CHARIO3(how, type, name, alias, alias2, ...) \
	CHARIO2(how, type, name, alias, __VA_ARGS__) CHARIO(how, type, alias2, __VA_ARGS__)
#define MANUAL2(how, name, alias, names) MANUAL(how, name, names) MANUAL(how, alias, names)
#define MANUAL3(how, name, alias, alias2, names) MANUAL2(how, name, alias, names) MANUAL(how, alias2, names)

#define ROW(how, name, names) CALL_##name,
enum call_number {
#include "calls/calls-each.h"
	CALL_COUNT
};

/* Arrays, not pointers: in libsonde those would be a thousand relocations at every program start. */
struct call_info {
	char name[28];
	char names[40]; /* of the text argument, with ' before it, and of the plain arguments */
	uint32_t mask;  /* SONDE_CAT_ bits, any of which enables it */
	uint8_t category, kind, bytes, wait, dft;
};

/* The values of a row after its names: FACTS how. */
#define FACTS(category, kind, bytes, wait, dft) \
	HOW_MASK_##dft(category), CALL_CATEGORY_##category, CALL_KIND_##kind, CALL_BYTES_##bytes, CALL_WAIT_##wait, \
			CALL_DFT_##dft

extern const struct call_info call_info[CALL_COUNT] __attribute__((visibility("hidden")));

/* The names of the plain arguments. */
static inline const char *call_arg_names(const struct call_info *info)
{
	const char *at = info->names;
	if (*at != '\'')
		return at;
	while (*at && *at != ',')
		at++;
	return *at ? at + 1 : at;
}

/* The name of the text argument and its length; "text" if the row has none. */
static inline const char *call_text_name(const struct call_info *info, size_t *bytes)
{
	const char *name = *info->names == '\'' ? info->names + 1 : "text";
	size_t n = 0;
	while (name[n] && name[n] != ',')
		n++;
	*bytes = n;
	return name;
}

#endif

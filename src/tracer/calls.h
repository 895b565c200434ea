/*
 * calls: the hook table's rows as numbers, names and categories.
 *
 * hooks.def is the one table. Each row is one of
 *
 *   HOOK(category, failure, type, name, (parameters), (arguments), "names", fields...)
 *       a wrapper made from the row. `failure` is the letter of how `type` tells of
 *       one (tracer/hook.h has the list). `names` are those of the recorded plain
 *       arguments, comma-separated; `fields` initialise a struct call after the real
 *       call has returned `result`.
 *   HOOK2(category, failure, type, name, alias, ...), HOOK3(... name, alias, alias, ...)
 *       the same for a function that has several names; so for the kinds below.
 *   VOID(category, name, (parameters), (arguments), "names", fields...)
 *       the same for a function that returns nothing.
 *   ALTER(as HOOK)
 *       the same for a call that changes what a descriptor or the current directory
 *       is: seen even while its category is not recorded.
 *   HOT(as HOOK)
 *       the same without strings or effects, recorded inline: for what programs do most.
 *   MOVE(as HOOK)
 *       the same as HOT for a call that moves the offset of its parameter `fd`.
 *   CLOSE(category, failure, type, name, (parameters), (arguments), fd)
 *       the same for a call that ends the descriptor `fd`.
 *   AHEAD(as HOOK)
 *       the same for a call after which the ring may not be able to grow.
 *   BYTE(type, name, (parameters), (arguments), stream, is_failed)
 *       a stdio call of one character: recorded as runs, not one by one.
 *   TAIL(category, name, "names")
 *       recorded before the real call, which is jumped to: for functions that look at
 *       who called them, that never return, or whose arguments cannot be passed on.
 *       The family's file has `before_<name>`, which records and returns the real one.
 *   HAND(category, name, "names")
 *       a wrapper written by hand in the family's file.
 *
 * The row's position is the call's number in a ring, so a recorder and its
 * libsonde come from one build; SONDE_SHM_VERSION and call_table_id() say so.
 */
#ifndef SONDE_TRACER_CALLS_H
#define SONDE_TRACER_CALLS_H

#include <stdint.h>

#define TWICE(kind, category, failure, type, name, alias, ...) \
	kind(category, failure, type, name, __VA_ARGS__) kind(category, failure, type, alias, __VA_ARGS__)
#define THRICE(kind, category, failure, type, name, alias, alias2, ...) \
	TWICE(kind, category, failure, type, name, alias, __VA_ARGS__) \
	kind(category, failure, type, alias2, __VA_ARGS__)
#define HOOK2(...) TWICE(HOOK, __VA_ARGS__)
#define HOOK3(...) THRICE(HOOK, __VA_ARGS__)
#define HOT2(...) TWICE(HOT, __VA_ARGS__)
#define HOT3(...) THRICE(HOT, __VA_ARGS__)
#define MOVE2(...) TWICE(MOVE, __VA_ARGS__)
#define MOVE3(...) THRICE(MOVE, __VA_ARGS__)
#define ALTER2(...) TWICE(ALTER, __VA_ARGS__)
#define CLOSE2(...) TWICE(CLOSE, __VA_ARGS__)
#define VOID2(category, name, alias, ...) VOID(category, name, __VA_ARGS__) VOID(category, alias, __VA_ARGS__)
#define BYTE2(type, name, alias, ...) BYTE(type, name, __VA_ARGS__) BYTE(type, alias, __VA_ARGS__)
#define BYTE3(type, name, alias, alias2, ...) BYTE2(type, name, alias, __VA_ARGS__) BYTE(type, alias2, __VA_ARGS__)
#define HAND2(category, name, alias, names) HAND(category, name, names) HAND(category, alias, names)
#define HAND3(category, name, alias, alias2, names) HAND2(category, name, alias, names) HAND(category, alias2, names)

#define HOOK(category, failure, type, name, ...) CALL_##name,
#define VOID(category, name, ...) CALL_##name,
#define CLOSE(category, failure, type, name, ...) CALL_##name,
#define ALTER HOOK
#define HOT HOOK
#define MOVE HOOK
#define AHEAD HOOK
#define BYTE(type, name, ...) CALL_##name,
#define TAIL(category, name, names) CALL_##name,
#define HAND(category, name, names) CALL_##name,
enum call_number {
#include "tracer/hooks.def"
	CALL_COUNT
};
#include "tracer/hooks-undef.h"

/* Texts in place, not pointers: in libsonde these would be a thousand relocations at every start of a program. */
struct call_info {
	char name[28];
	char arg_names[40];
	uint32_t category;
};

extern const struct call_info call_info[CALL_COUNT] __attribute__((visibility("hidden")));

#endif

/*
 * calls: the hook table's rows as numbers, names and categories.
 *
 * hooks.def is the one table. Each row is
 *
 *   HOOK(category, failure, type, name, (parameters), (arguments), "names", fields...)
 *       a wrapper made from the row. `failure` says how `type` tells of one: I -1,
 *       P NULL, M (void *)-1, E it is the error number, N never. `names` are those
 *       of the recorded plain arguments, comma-separated; `fields` initialise a
 *       struct call (tracer/hook.h).
 *   BYTE(type, name, (parameters), (arguments), stream, is_failed)
 *       a stdio call of one character: recorded as runs, not one by one.
 *   HAND(category, name, "names")
 *       a wrapper written by hand in hooks/<family>.c, next to the row's table.
 *
 * The row's position is the call's number in a ring, so a recorder and its
 * libsonde come from one build; SONDE_SHM_VERSION and call_table_id() say so.
 */
#ifndef SONDE_TRACER_CALLS_H
#define SONDE_TRACER_CALLS_H

#include <stdint.h>

enum call_number {
#define HOOK(category, failure, type, name, ...) CALL_##name,
#define BYTE(type, name, ...) CALL_##name,
#define HAND(category, name, names) CALL_##name,
#include "tracer/hooks.def"
#undef HOOK
#undef BYTE
#undef HAND
	CALL_COUNT
};

struct call_info {
	const char *name;
	uint32_t category;
	const char *arg_names;
};

extern const struct call_info call_info[CALL_COUNT] __attribute__((visibility("hidden")));

#endif

/* The hook table as data; see calls.h. */
#include "tracer/calls.h"

#include "sonde/shm.h"

const struct call_info call_info[CALL_COUNT] = {
#define HOOK(category, failure, type, name, parameters, arguments, names, ...) \
	{ #name, SONDE_CAT_##category, names },
#define BYTE(type, name, ...) { #name, SONDE_CAT_STDIO, "calls" },
#define HAND(category, name, names) { #name, SONDE_CAT_##category, names },
#include "tracer/hooks.def"
};

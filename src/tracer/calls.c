/* The hook table as data; see calls.h. */
#include "tracer/calls.h"

#include "sonde/shm.h"

#define HOOK(category, failure, type, name, parameters, arguments, names, ...) { #name, names, SONDE_CAT_##category },
#define VOID(category, name, parameters, arguments, names, ...) { #name, names, SONDE_CAT_##category },
#define CLOSE(category, failure, type, name, ...) { #name, "", SONDE_CAT_##category },
#define ALTER HOOK
#define HOT HOOK
#define MOVE HOOK
#define AHEAD HOOK
#define BYTE(type, name, ...) { #name, "calls", SONDE_CAT_STDIO },
#define TAIL(category, name, names) { #name, names, SONDE_CAT_##category },
#define HAND(category, name, names) { #name, names, SONDE_CAT_##category },

const struct call_info call_info[CALL_COUNT] = {
#include "tracer/hooks.def"
};

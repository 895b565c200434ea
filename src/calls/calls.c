#include "calls/calls.h"

#define HOOK(how, failure, type, name, parameters, arguments, names, ...) { #name, names, FACTS how },
#define VOID(how, name, parameters, arguments, names, ...) { #name, names, FACTS how },
#define CLOSE(how, failure, type, name, ...) { #name, "", FACTS how },
#define FDCALL HOOK
#define INLINE HOOK
#define OFFSET HOOK
#define PREGROW HOOK
#define CHARIO(how, type, name, ...) { #name, "calls", FACTS how },
#define TAILCALL(how, name, names) { #name, names, FACTS how },
#define MANUAL(how, name, names) { #name, names, FACTS how },
#define SYSCALL(kernel_name, name, letters, effect)
#define SYSNAME(kernel_name, name, letters, effect)

const struct call_info call_info[CALL_COUNT] = {
#include "calls/calls.def"
};

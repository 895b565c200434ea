/*
 * calls-each: expands the whole table for users that need no prototypes.
 *
 * Define any of ROW(how, name, names), SYSCALL and SYSNAME as wanted, and include this file where the rows are to
 * appear. All of them are undefined at the end. It has no include guard, because it is included several times.
 */
#ifndef ROW
#define ROW(how, name, names)
#endif
#ifndef SYSCALL
#define SYSCALL(kernel_name, name, letters, effect)
#endif
#ifndef SYSNAME
#define SYSNAME(kernel_name, name, letters, effect)
#endif
/* tracer/hook.h defines the rows as wrappers. */
#undef HOOK
#undef VOID
#undef CLOSE
#undef FDCALL
#undef INLINE
#undef OFFSET
#undef PREGROW
#undef CHARIO
#undef TAILCALL
#undef MANUAL
#define HOOK(how, failure, type, name, parameters, arguments, names, ...) ROW(how, name, names)
#define VOID(how, name, parameters, arguments, names, ...) ROW(how, name, names)
#define CLOSE(how, failure, type, name, ...) ROW(how, name, "")
#define FDCALL HOOK
#define INLINE HOOK
#define OFFSET HOOK
#define PREGROW HOOK
#define CHARIO(how, type, name, ...) ROW(how, name, "calls")
#define TAILCALL(how, name, names) ROW(how, name, names)
#define MANUAL(how, name, names) ROW(how, name, names)

#include "calls/calls.def"

#undef ROW
#undef SYSCALL
#undef SYSNAME
#undef HOOK
#undef VOID
#undef CLOSE
#undef FDCALL
#undef INLINE
#undef OFFSET
#undef PREGROW
#undef CHARIO
#undef TAILCALL
#undef MANUAL

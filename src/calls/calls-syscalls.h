/*
 * Define the rows of functions as nothing, for readers that need only SYSCALL and SYSNAME of calls.def. Without an
 * include guard, like calls-undef.h: the definitions last until that is included.
 */
#define HOOK(...)
#define VOID(...)
#define CLOSE(...)
#define FDCALL(...)
#define INLINE(...)
#define OFFSET(...)
#define PREGROW(...)
#define CHARIO(...)
#define TAILCALL(...)
#define MANUAL(...)

/*
 * Undefines the rows of calls.def between two inclusions of the table. It has no include guard, because it is included
 * several times.
 */
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
#undef SYSCALL
#undef SYSNAME

/*
 * Undefine the rows of calls.def, between two readings of the table. Without an include guard, since it is included
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

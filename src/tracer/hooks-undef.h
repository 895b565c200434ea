/* The words of hooks.def mean nothing again: between two readings of the table. No guard: that is its purpose. */
#undef HOOK
#undef VOID
#undef CLOSE
#undef ALTER
#undef HOT
#undef MOVE
#undef AHEAD
#undef BYTE
#undef TAIL
#undef HAND

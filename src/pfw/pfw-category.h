/* pfw-category: maps between DFTracer's categories (POSIX, STDIO) and those of calls. */
#ifndef SONDE_PFW_PFW_CATEGORY_H
#define SONDE_PFW_PFW_CATEGORY_H

#include <stdbool.h>
#include <stddef.h>

/* "data", "open", "meta" and so on, by the call's name; "stdio" for STDIO calls. */
const char *pfw_call_category(const char *name, size_t n, bool is_stdio);
/* STDIO or POSIX, for a call category, which may be NULL. */
const char *pfw_trace_category(const char *call_category);

#endif

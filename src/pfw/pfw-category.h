/*
 * pfw-category: the categories of DFTracer (POSIX, STDIO) and those of calls here.
 */
#ifndef SONDE_PFW_PFW_CATEGORY_H
#define SONDE_PFW_PFW_CATEGORY_H

#include <stdbool.h>
#include <stddef.h>

/* "data", "open", "meta" and so on, by the name of the call; "stdio" for those of STDIO. */
const char *pfw_call_category(const char *name, size_t n, bool is_stdio);
/* STDIO or POSIX: of calls of this category, which may be NULL. */
const char *pfw_trace_category(const char *call_category);

#endif

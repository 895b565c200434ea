/*
 * selftime: how much of a span's time is spent in spans inside it.
 *
 * Of each thread a span's children are the spans directly inside it. Tables
 * hold a thread's spans in the order of their ends, children before parents;
 * read from the end, a stack a thread tells each span's parent, and one pass
 * over the blocks does, in memory that grows with threads and depth alone. A
 * table in another order (put together from pieces of traces) is noticed and
 * read again in the order of begins, which is slower. Private to analyze/.
 */
#ifndef SONDE_ANALYZE_SELFTIME_H
#define SONDE_ANALYZE_SELFTIME_H

#include "analyze/pass.h"

/* For each span inside another: a row with the outer one's name and category and the inner one's duration. */
int selftime_feed(struct analyze *a, struct engine_plan *fed, struct sonde_err *err);

#endif

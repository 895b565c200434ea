/*
 * selftime: how much of a span's time is spent in spans inside it.
 *
 * A span's children are the spans of its thread directly inside it. Tables hold a thread's spans in order of their
 * ends, children before parents. Read from the end, one stack per thread gives each span's parent; one pass over the
 * blocks is enough, in memory proportional to threads and depth. A table in another order (merged from several
 * traces) is detected and read again in order of starts, which is slower. Private to analyze/.
 */
#ifndef SONDE_ANALYZE_SELFTIME_H
#define SONDE_ANALYZE_SELFTIME_H

#include "analyze/pass.h"

/* Adds a row for each span inside another: the outer span's name and category and the inner span's duration. */
int selftime_feed(struct analyze *a, struct engine_plan *fed, struct sonde_err *err);

#endif

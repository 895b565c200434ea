/*
 * synthetic: a run of any size with a realistic structure, written with the store's writer.
 *
 * Eight processes of two threads: calls on a thousand files (reads of several sizes, writes, opens, stats), nested
 * spans, a counter, steps.
 */
#ifndef SONDE_BENCH_SYNTHETIC_H
#define SONDE_BENCH_SYNTHETIC_H

#include "base/err.h"

#include <stdint.h>

/* Create the run directory `dir` with about this many events: six of ten are calls. */
int synthetic_run(const char *dir, uint64_t events, struct sonde_err *err);

#endif

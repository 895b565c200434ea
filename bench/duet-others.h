/* duet-others: procedures that duet does not use, to compare with. */
#ifndef SONDE_BENCH_DUET_OTHERS_H
#define SONDE_BENCH_DUET_OTHERS_H

#include "stats/interval.h"

#include <stdint.h>

/* Bootstraps of the mean of n values, at most 200. */
struct stats_interval studentised_mean(const double *x, size_t n, double level, uint64_t seed);
struct stats_interval bca_mean(const double *x, size_t n, double level, uint64_t seed);

/*
 * The interval at m->n observations of a sequence of intervals that jointly contain the mean with `level`. It is
 * narrowest near n_tuned observations (0: 12). The first few are open.
 */
struct stats_interval sequence_interval(const struct stats_moments *m, double level, size_t n_tuned);

#endif

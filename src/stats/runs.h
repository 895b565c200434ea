/*
 * runs: log-ratios by run, the input of every comparison.
 *
 * A run (one pair of processes) is the unit of replication: its pairs of iterations share memory layout, cores and
 * neighbours, and are one observation, not many (Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM
 * 2013). All pointers are borrowed.
 */
#ifndef SONDE_STATS_RUNS_H
#define SONDE_STATS_RUNS_H

#include <stddef.h>

struct stats_runs {
	const double *x;      /* ln(tB / tA) of every pair, by run */
	const double *weight; /* of every pair (overlap in time), or NULL: equal weights */
	const size_t *first;  /* run r is x[first[r]] .. x[first[r + 1] - 1]; count + 1 entries, ascending */
	size_t count;
};

#endif

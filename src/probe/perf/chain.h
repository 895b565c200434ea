/* chain: the stack of a sample, user frames and kernel frames, as a number of the table stack. */
#ifndef SONDE_PROBE_PERF_CHAIN_H
#define SONDE_PROBE_PERF_CHAIN_H

#include "probe/perf/source.h"

/* Returns STORE_NULL if it is unknown. *is_cut: its outermost frames are missing. */
int64_t chain_of(struct perf_source *source, const struct perf_sample *s, bool is_kernel, bool *is_cut);

#endif

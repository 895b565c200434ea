/* names: of functions in the kernel, the vdso, and code that programs made and listed in /tmp/perf-PID.map. */
#ifndef SONDE_PROBE_PERF_SYMBOL_NAMES_H
#define SONDE_PROBE_PERF_SYMBOL_NAMES_H

#include "probe/perf/stack-table.h"

/* Rows of the table symbol for these addresses: of one module, rising. What cannot be named gets none. */
void names_emit(struct store_sink *sink, const struct stacks_address *addresses, size_t count);

#endif

/* symbol-names: functions of the kernel, the vdso, and JIT-compiled code listed in /tmp/perf-PID.map. */
#ifndef SONDE_PROBE_PERF_SYMBOL_NAMES_H
#define SONDE_PROBE_PERF_SYMBOL_NAMES_H

#include "probe/perf/stack-table.h"

/* Writes rows of the table symbol for these addresses: of one module, ascending. Unknown ones get no row. */
void names_emit(struct store_sink *sink, const struct stacks_address *addresses, size_t count);

#endif

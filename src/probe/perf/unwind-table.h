/* unwind-table: the frame rules of one module, read from its file at first use. Private to unwind. */
#ifndef SONDE_PROBE_PERF_UNWIND_TABLE_H
#define SONDE_PROBE_PERF_UNWIND_TABLE_H

#include "probe/perf/addrspace.h"
#include "probe/perf/cfi.h"

/* Returns the rules at a file offset of the module; NULL if it has none. Valid until the next call for this module. */
const struct cfi_row *unwind_table_row(struct module *m, uint64_t offset, const struct cfi **cfi);

#endif

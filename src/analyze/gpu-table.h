/* gpu-table: results of the gpu pass, for other passes. Private to analyze/. */
#ifndef SONDE_ANALYZE_GPU_TABLE_H
#define SONDE_ANALYZE_GPU_TABLE_H

#include "analyze/pass.h"

/* Total time of the kernels with this string in their names; STORE_NULL if no GPU commands were recorded. */
int64_t gpu_kernels_ns(const struct analyze *a, const char *part);
/* Totals of all copies in a direction; false if none. */
bool gpu_copies(const struct analyze *a, const char *direction, int64_t *ns, int64_t *bytes);

#endif

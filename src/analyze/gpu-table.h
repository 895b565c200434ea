/* What the pass gpu found, for others. Private to analyze/. */
#ifndef SONDE_ANALYZE_GPU_TABLE_H
#define SONDE_ANALYZE_GPU_TABLE_H

#include "analyze/pass.h"

/* Time of all kernels whose names hold this; STORE_NULL: no commands of devices are known. */
int64_t gpu_kernels_ns(const struct analyze *a, const char *part);
/* Of all copies in a direction; false: there were none. */
bool gpu_copies(const struct analyze *a, const char *direction, int64_t *ns, int64_t *bytes);

#endif

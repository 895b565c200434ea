/* counter-table: results of the counters pass, for other passes. Private to analyze/. */
#ifndef SONDE_ANALYZE_COUNTER_TABLE_H
#define SONDE_ANALYZE_COUNTER_TABLE_H

#include "analyze/pass.h"

/* The largest value of a counter; the total of a monotonic one. NaN if the counter does not exist. */
double counters_most(const struct analyze *a, const char *name);
/* A quantile of its values, and their mean; NaN as above. */
double counters_quantile(const struct analyze *a, const char *name, double p);
double counters_mean(const struct analyze *a, const char *name);

#endif

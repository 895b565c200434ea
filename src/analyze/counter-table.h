/* What the pass counters found, for others. Private to analyze/. */
#ifndef SONDE_ANALYZE_COUNTER_TABLE_H
#define SONDE_ANALYZE_COUNTER_TABLE_H

#include "analyze/pass.h"

/* The largest value of a counter: of one that counts up its total. NaN: there is no such counter. */
double counters_most(const struct analyze *a, const char *name);
/* A quantile of its values, and their mean; NaN likewise. */
double counters_quantile(const struct analyze *a, const char *name, double p);
double counters_mean(const struct analyze *a, const char *name);

#endif

/* repeated-calls: many calls of one kind on the same path. Private to analyze/. */
#ifndef SONDE_ANALYZE_REPEATED_CALLS_H
#define SONDE_ANALYZE_REPEATED_CALLS_H

#include "analyze/finding.h"

/* Checks for paths with at least `most` calls of the kind: all but one per process are redundant. */
bool repeated_check(struct analyze *a, enum call_kind kind, uint64_t most, const char *word, struct finding *f);

#endif

/* Calls on the same path again and again. Private to analyze/. */
#ifndef SONDE_ANALYZE_REPEATED_CALLS_H
#define SONDE_ANALYZE_REPEATED_CALLS_H

#include "analyze/finding.h"

/* Paths with at least `most` calls of the kind: all but one of each process could be spared. */
bool repeated_check(struct analyze *a, enum call_kind kind, uint64_t most, const char *word, struct finding *f);

#endif

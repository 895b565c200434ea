/* small-io: many small accesses instead of few large ones. Private to analyze/. */
#ifndef SONDE_ANALYZE_SMALL_IO_H
#define SONDE_ANALYZE_SMALL_IO_H

#include "analyze/finding.h"

bool tiny_check(struct analyze *a, enum call_kind kind, const char *word, struct finding *f);

#endif

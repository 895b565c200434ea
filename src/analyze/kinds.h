/* What a call does. Private to analyze/. */
#ifndef SONDE_ANALYZE_KINDS_H
#define SONDE_ANALYZE_KINDS_H

#include "analyze/columns.h"

/* category NULL: unknown. */
enum analyze_kind analyze_kind(const char *category, const char *name);

#endif

/* Passes whose tables are not recorded yet, or whose work is not done yet: what to say. Private to analyze/. */
#ifndef SONDE_ANALYZE_ABSENT_H
#define SONDE_ANALYZE_ABSENT_H

#include "analyze/pass.h"

/* Does the run have rows in a table of this name? */
bool analyze_has_table(const struct analyze *a, const char *name);

#endif

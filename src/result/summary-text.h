/*
 * summary-text: prints the result of an analysis, for `sonde summary` and `sonde merge`.
 */
#ifndef SONDE_RESULT_SUMMARY_TEXT_H
#define SONDE_RESULT_SUMMARY_TEXT_H

#include "result/result.h"

/* In 40 lines of 100 columns, or in full. Returns 0 or -ENOMEM. */
int summary_write_text(const struct analyze_result *r, bool is_full, struct buf *out, const struct term *term);

#endif

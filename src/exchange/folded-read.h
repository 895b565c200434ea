/*
 * folded-read: stacks by line, `program;main;work 12`, become samples. The format's table is in folded.c.
 *
 * The first frame is the program. A line is one row, whose `count` is the
 * number at its end; it is CPU time too when --time-unit says what it counts.
 * There are no times in such a file: a row's is the sum of the numbers before it.
 */
#ifndef SONDE_EXCHANGE_FOLDED_READ_H
#define SONDE_EXCHANGE_FOLDED_READ_H

#include "exchange/exchange.h"

#define FOLDED_EVENT "folded" /* sample.event of such rows: they stand for `count` samples */

bool folded_is_mine(const char *head, size_t n);
int folded_read(struct foreign *f);

#endif

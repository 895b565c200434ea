/*
 * folded-read: converts folded stacks, `program;main;work 12`, to samples. The format's table is in folded.c.
 *
 * The first frame is the program. Each line becomes one row; its `count` is the number at the end of the line, which is
 * also its CPU time if --time-unit gives the unit. The file has no times: the time of a row is the sum of the numbers
 * before it.
 */
#ifndef SONDE_EXCHANGE_FOLDED_READ_H
#define SONDE_EXCHANGE_FOLDED_READ_H

#include "exchange/exchange.h"

#define FOLDED_EVENT "folded" /* sample.event of these rows: they stand for `count` samples */

bool folded_is_mine(const char *head, size_t n);
int folded_read(struct foreign *f);

#endif

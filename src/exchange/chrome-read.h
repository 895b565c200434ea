/*
 * chrome-read: converts Chrome's Trace Event format to rows.
 *
 *   X, and B with E      a span; without an end it lasts until the last event of its thread
 *   b with e (S with F)  a span, by category and id
 *   i, I, R, n           a mark
 *   C                    a counter for each number of its arguments
 *   M                    names of processes and threads
 *   other                a row of `line`, verbatim: flows, objects, samples
 *
 * Times are microseconds with an arbitrary origin. The format's table is in chrome.c.
 */
#ifndef SONDE_EXCHANGE_CHROME_READ_H
#define SONDE_EXCHANGE_CHROME_READ_H

#include "exchange/exchange.h"

bool chrome_is_mine(const char *head, size_t n);
int chrome_read(struct foreign *f);

#endif

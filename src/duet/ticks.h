/*
 * ticks: round numbers along the axis of a picture: multiples of 1, 2 or 5 times a power of ten.
 */
#ifndef SONDE_DUET_TICKS_H
#define SONDE_DUET_TICKS_H

#include <stddef.h>

struct duet_ticks {
	double step;
	double first; /* the first tick is so many steps from 0: a whole number */
	size_t count;
	int digits; /* behind the point, as many as tell them apart */
};

/* The closest that are at most `most` within [lo, hi]; none when that is no stretch. */
struct duet_ticks duet_ticks_for(double lo, double hi, size_t most);
double duet_tick(const struct duet_ticks *t, size_t i);
/* "+2.5 %", "0 %" */
void duet_tick_label(const struct duet_ticks *t, size_t i, char *out, size_t size);

#endif

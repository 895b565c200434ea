/* ticks: round numbers for the axis of a plot: multiples of 1, 2 or 5 times a power of ten. */
#ifndef SONDE_DUET_TICKS_H
#define SONDE_DUET_TICKS_H

#include <stddef.h>

struct duet_ticks {
	double step;
	double first; /* the first tick in steps from 0: an integer */
	size_t count;
	int digits; /* decimals needed to distinguish them */
};

/* The closest ticks of which at most `most` are within [lo, hi]; none if the range is empty. */
struct duet_ticks duet_ticks_for(double lo, double hi, size_t most);
double duet_tick(const struct duet_ticks *t, size_t i);
/* "+2.5 %", "0 %" */
void duet_tick_label(const struct duet_ticks *t, size_t i, char *out, size_t size);

#endif

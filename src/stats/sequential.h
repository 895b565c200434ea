/*
 * sequential: looking at the data while it comes, without crying wolf.
 *
 * Looking again and again with an ordinary 95 % interval, and stopping when it
 * excludes "no change", finds a change where there is none far more often than
 * in 5 % of cases. Two remedies, both for independent observations (the locations
 * of runs) and exact for normal ones of unknown variance, however few:
 *
 * A *group-sequential plan* spends the error alpha = 1 - level look by look. Looks
 * come at any number of runs, up to n_max, and need not be known beforehand; what
 * may not happen is that the data decide when to look. With n_max runs, or when
 * the budget ends (stats_sequential_last), the rest is spent. The interval of each
 * look is a repeated interval: all of them together hold the truth with `level`,
 * whenever and why ever one stops.
 *
 * A *confidence sequence* (stats_sequence_interval) holds at every number of runs
 * at once, without plan or limit; it pays with width.
 */
#ifndef SONDE_STATS_SEQUENTIAL_H
#define SONDE_STATS_SEQUENTIAL_H

#include "stats/interval.h"

enum stats_spending {
	STATS_OBRIEN_FLEMING, /* hardly anything early, at the end almost a fixed-n interval */
	STATS_POCOCK,         /* about as much at each look */
	STATS_POWER,          /* alpha * fraction^power: 1 is near Pocock, 3 near O'Brien-Fleming */
};

enum { STATS_SEQUENTIAL_GRID = 257 };

struct stats_sequential {
	enum stats_spending spending;
	double level;
	double power;
	size_t n_max;
	size_t n;       /* observations at the last look, and */
	double spent;   /* error spent until then */
	double bound;   /* |t| beyond it excludes there; infinite while nothing can be spent */
	double nominal; /* the error of that bound, were it the only look */
	/* private */
	bool is_cut;                           /* has a look ended some paths? if not, the density is known */
	double edge;                           /* the density of sum / root of the sum of squares among the */
	double density[STATS_SEQUENTIAL_GRID]; /* paths that went on, at n, on 0 .. edge */
};

/* power is for STATS_POWER. */
void stats_sequential_init(struct stats_sequential *s, enum stats_spending spending, double level, size_t n_max,
		double power);
/*
 * Look at n observations: sets bound and nominal. n must rise from look to look;
 * where it does not, and after n_max, nothing is left to spend and bound is
 * infinite. Below 2 observations it is, too.
 */
void stats_sequential_look(struct stats_sequential *s, size_t n);
/* The same as the last look: all that is left is spent. */
void stats_sequential_last(struct stats_sequential *s, size_t n);
/* The repeated interval for a mean at the look made last; open if m has not as many observations as that. */
struct stats_interval stats_sequential_interval(const struct stats_sequential *s, const struct stats_moments *m);

/* The part of alpha = 1 - level that may be spent at `fraction` of n_max. */
double stats_spending_at(enum stats_spending spending, double level, double power, double fraction);

/*
 * The interval at m->n observations of a sequence of which all hold the mean at
 * once with `level`. It is narrowest near n_tuned observations (0: 12). The first
 * few are open.
 */
struct stats_interval stats_sequence_interval(const struct stats_moments *m, double level, size_t n_tuned);

#endif

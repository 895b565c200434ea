/*
 * sequential: looking at the data while it comes, without crying wolf.
 *
 * Looking again and again with an ordinary 95 % interval, and stopping when it
 * excludes "no change", finds a change where there is none far more often than
 * in 5 % of cases. Two remedies:
 *
 * A *group-sequential plan* spends the error alpha = 1 - level look by look. Looks
 * come at any number of runs, up to n_max, and need not be known beforehand; what
 * may not happen is that the data decide when to look. With n_max runs, or when
 * the budget ends (stats_sequential_last), the rest is spent. The interval of every look
 * is a repeated interval: all of them together hold the truth with `level`,
 * whenever and why ever one stops.
 *
 * A *confidence sequence* (stats_sequence_interval) holds at every number of runs
 * at once, without plan or limit; it pays with width.
 *
 * Both are for independent observations: run locations.
 */
#ifndef SONDE_STATS_SEQUENTIAL_H
#define SONDE_STATS_SEQUENTIAL_H

#include "stats/interval.h"

enum stats_spending {
	STATS_OBRIEN_FLEMING, /* hardly anything early, at the end almost a fixed-n interval */
	STATS_POCOCK,         /* about as much at each look */
	STATS_POWER,          /* alpha * fraction^power: 1 is near Pocock, 3 near O'Brien-Fleming */
};

enum { STATS_SEQUENTIAL_NODES = 400, STATS_SEQUENTIAL_LOOKS = 64 };

struct stats_sequential {
	enum stats_spending spending;
	double level;
	double power;
	size_t n_max;
	size_t looks;   /* so far */
	double spent;   /* error so far */
	double bound;   /* of the last look: |z| beyond it excludes; infinite while nothing is spent */
	double nominal; /* the last look's own error, 2 (1 - Phi(bound)) */
	/* private */
	double fraction;                      /* of n_max at the last look */
	size_t nodes;                         /* the density of the walk among those that went on, */
	double at[STATS_SEQUENTIAL_NODES];    /* as sum of mass at points */
	double mass[STATS_SEQUENTIAL_NODES];
};

/* power is for STATS_POWER. */
void stats_sequential_init(struct stats_sequential *s, enum stats_spending spending, double level, size_t n_max,
	double power);
/*
 * Look at n observations: sets bound and nominal. n must rise from look to look;
 * where it does not, after n_max, or after STATS_SEQUENTIAL_LOOKS looks, nothing is
 * left to spend and bound is infinite.
 */
void stats_sequential_look(struct stats_sequential *s, size_t n);
/* The same as the last look: all that is left is spent. For n below n_max the plan ends here. */
void stats_sequential_last(struct stats_sequential *s, size_t n);
/*
 * The repeated interval for a mean at the look made last: Student's t at the
 * nominal error, which keeps the level for few runs, too (see bench/duet-sim).
 */
struct stats_interval stats_sequential_interval(const struct stats_sequential *s, const struct stats_moments *m);

/* The part of alpha = 1 - level that may be spent at `fraction` of n_max. */
double stats_spending_at(enum stats_spending spending, double level, double power, double fraction);

/*
 * The interval at m->n observations of a sequence of which all hold the mean at
 * once with `level`; exact for normal data of unknown variance. It is narrowest
 * near n_tuned observations (0: 12). The first is open.
 */
struct stats_interval stats_sequence_interval(const struct stats_moments *m, double level, size_t n_tuned);

#endif

/*
 * sequential: interim analyses of data as it arrives, with controlled error.
 *
 * Checking an ordinary 95 % interval repeatedly, and stopping when it excludes "no change", finds a change where none
 * exists far more often than in 5 % of cases. The remedy, for independent observations (the locations of runs) and
 * exact for normal ones of unknown variance, however few, is a *group-sequential plan*.
 *
 * It spends the error alpha = 1 - level over the interim analyses. Analyses may be made at any number of runs, up to
 * n_max, and need not be fixed in advance; but the data must not decide when to analyse. With n_max runs, or when the
 * budget ends (stats_sequential_last), the rest is spent. The interval of each analysis is a repeated interval:
 * jointly they contain the truth with `level`, for any stopping rule.
 */
#ifndef SONDE_STATS_SEQUENTIAL_H
#define SONDE_STATS_SEQUENTIAL_H

#include "stats/interval.h"

enum stats_spending {
	STATS_OBRIEN_FLEMING, /* very little early, almost a fixed-n interval at the end */
	STATS_POCOCK,         /* about the same at each analysis */
	STATS_POWER,          /* alpha * fraction^power: 1 is near Pocock, 3 near O'Brien-Fleming */
};

enum { STATS_SEQUENTIAL_GRID = 257 };

struct stats_sequential {
	enum stats_spending spending;
	double level;
	double power;
	size_t n_max;
	size_t n;       /* observations at the last analysis, and */
	double spent;   /* error spent until then */
	double bound;   /* |t| beyond it is significant there; infinite if no error can be spent */
	double nominal; /* the error of that bound, if it were the only analysis */
	/* private */
	bool is_cut;                           /* has an analysis ended some paths? if not, the density is known */
	double edge;                           /* the density of sum / root of the sum of squares among the */
	double density[STATS_SEQUENTIAL_GRID]; /* paths that continued, at n, on 0 .. edge */
};

/* power is for STATS_POWER. */
void stats_sequential_init(struct stats_sequential *s, enum stats_spending spending, double level, size_t n_max,
		double power);
/*
 * Analysis at n observations: sets bound and nominal. n must rise from analysis to analysis; otherwise, after n_max,
 * and below 2 observations, no error can be spent and bound is infinite.
 */
void stats_sequential_look(struct stats_sequential *s, size_t n);
/* The same as the final analysis: spends all remaining error. */
void stats_sequential_last(struct stats_sequential *s, size_t n);
/* The repeated interval for a mean at the last analysis; open if m does not have as many observations as that. */
struct stats_interval stats_sequential_interval(const struct stats_sequential *s, const struct stats_moments *m);

/* The part of alpha = 1 - level that may be spent at `fraction` of n_max. */
double stats_spending_at(enum stats_spending spending, double level, double power, double fraction);

#endif

/*
 * fake: a runner with a clock of its own and programs whose speed is known. Nothing is executed and
 * nothing waits: an iteration of a side takes base_ns, times its side's factor, times noise.
 */
#ifndef SONDE_TEST_DUET_FAKE_H
#define SONDE_TEST_DUET_FAKE_H

#include "duet/duet.h"
#include "stats/rng.h"

struct fake {
	double base_ns;
	double factor_b;            /* B takes so many times as long as A */
	double noise[DUET_DESIGNS]; /* sd of the logarithm of an iteration's time, of its side's own */
	double second_slower;       /* who comes second (or has the second CPUs) takes so many times as long */
	double far_off;             /* the share of iterations that take ten times as long */
	double left_by[DUET_SIDES]; /* an execution after this side takes so many times as long; 0: 1 */
	double own_quicker;         /* an execution after its own side takes so many times as long; 0: 1 */
	double drift;               /* of the machine per execution, as a logarithm */
	double busy;                /* others make all of it so many times as long */
	bool fails_at_once;         /* two copies at the same time fail */
	size_t fail_at;             /* the run with this number (from 1) fails; 0: none */
	int failure;                /* with this */
	int64_t clock_ns;
	bool has_last;
	enum duet_side last;         /* of those in turn */
	size_t runs, aa_runs, turns; /* so far */
	size_t first_b, swapped;     /* turns that began so */
	size_t tried[DUET_DESIGNS];  /* runs by design */
	struct stats_rng rng;
};

void fake_init(struct fake *f, double factor_b, double noise);
struct duet_runner fake_runner(struct fake *f);

#endif

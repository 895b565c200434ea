/*
 * stint: one stretch of a job under one configuration: how fast iterations come, what the change to it took.
 *
 * The first reports after a change are left out: they were begun before it, and new workers have to get going. The
 * time of an iteration is the mean of the latest gaps between reports, whoever
 * made them, its interval by means of batches, for reports of several workers come
 * in bunches.
 */
#ifndef SONDE_TUNE_ONLINE_STAGE_H
#define SONDE_TUNE_ONLINE_STAGE_H

#include "stats/interval.h"
#include "tune/space.h"

enum { TRAIN_GAPS = 256, TRAIN_SKIPPED = 3 };
#define TRAIN_SETTLE_S 0.1 /* so long after the first report, and at least so many reports, nothing is measured */

/* Why the configuration was taken. */
enum train_reason {
	TRAIN_START,   /* the first one */
	TRAIN_EXPLORE, /* to begin with, to learn */
	TRAIN_TRY,     /* later, to learn: it may well be better */
	TRAIN_BEST,    /* it is expected to be best */
	TRAIN_HAND,    /* somebody said so */
};
const char *train_reason_word(enum train_reason reason);

struct online_stage {
	unsigned index; /* of the configuration, from 0 */
	double point[TUNE_PARAMS_MAX];
	enum train_reason reason;
	bool is_restart;        /* the program was started anew for it */
	uint64_t trial;         /* of the optimiser */
	bool is_told;           /* its value is known to the optimiser: what is there is good enough */
	bool is_failed;         /* its losses are not numbers */
	double asked_s;         /* when the change was asked for */
	double first_s, last_s; /* of its reports; NaN: none yet */
	size_t meanwhile;       /* reports of the configuration before that came since */
	double cost_s;     /* from the asking to the first report, without what was done meanwhile; NaN: not known */
	size_t first_loss; /* of all losses of the job, the first of this stint */
	size_t count;      /* of its reports */
	size_t workers;    /* that they came from */
	size_t gap_count;  /* gaps between them that were measured, */
	double measured_s; /* and how long they were in all */
	double value;      /* seconds for an iteration's worth of progress, as told; NaN: not yet */
	/* private */
	double gaps[TRAIN_GAPS];
};

void online_stage_report(struct online_stage *s, double time_s);
/* Seconds an iteration; NaN before there are two gaps. */
struct stats_interval online_stage_rate(const struct online_stage *s);
/*
 * What is known of a stint at any moment, by the time that has passed without a report too. The first report has
 * grace_s to come; until then those of the configuration before count. Reports of workers may come in bunches, so
 * one of each is taken to be on its way.
 */
struct train_wait {
	double seconds, reports;
};
struct train_wait online_stage_wait(const struct online_stage *s, double now_s, double grace_s, size_t workers);
/*
 * Does an iteration take longer than pace_s? The logarithm of how much likelier the wait is at its own pace than at
 * that one, if reports come as by chance (the generalised likelihood ratio of a Poisson process): it may be looked at
 * after every report, and between them. 0: it is not slower.
 */
double train_wait_evidence(const struct train_wait *w, double pace_s);

#endif

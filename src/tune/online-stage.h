/*
 * online-stage: one stage of a job under one configuration: iteration rate and cost of the
 * reconfiguration.
 *
 * The first reports after a reconfiguration are skipped: they were started before it, and new
 * workers have to warm up. The time of an iteration is the mean of the latest gaps between reports
 * of any worker; its interval is by batch means, because reports of several workers come in bursts.
 */
#ifndef SONDE_TUNE_ONLINE_STAGE_H
#define SONDE_TUNE_ONLINE_STAGE_H

#include "stats/interval.h"
#include "tune/space.h"

enum { TRAIN_GAPS = 256, TRAIN_SKIPPED = 3 };
#define TRAIN_SETTLE_S 0.1 /* warm-up after the first report; at least TRAIN_SKIPPED reports */

/* Why the configuration was chosen. */
enum train_reason {
	TRAIN_START,   /* the first one */
	TRAIN_EXPLORE, /* initial exploration */
	TRAIN_TRY,     /* later exploration: it may be better */
	TRAIN_BEST,    /* it has the best expected cost */
	TRAIN_HAND,    /* set by the user */
};
const char *train_reason_word(enum train_reason reason);

struct online_stage {
	unsigned index; /* of the configuration, from 0 */
	double point[TUNE_PARAMS_MAX];
	enum train_reason reason;
	bool is_restart;        /* the program was restarted for it */
	uint64_t trial;         /* of the optimizer */
	bool is_told;           /* the optimizer has its value: the measurement is precise enough */
	bool is_failed;         /* its losses are not finite */
	double asked_s;         /* when the change was requested */
	double first_s, last_s; /* of its reports; NaN: none yet */
	size_t meanwhile;       /* reports of the previous configuration since the request */
	double cost_s;     /* from the request to the first report, net of progress made meanwhile; NaN if unknown */
	size_t first_loss; /* index of this stage's first loss among the losses of the job */
	size_t count;      /* of its reports */
	size_t workers;    /* number of workers that reported */
	size_t gap_count;  /* measured gaps between reports, */
	double measured_s; /* and their total duration */
	double value;      /* seconds per unit of progress, as given to the optimizer; NaN: not yet */
	/* private */
	double gaps[TRAIN_GAPS];
};

void online_stage_report(struct online_stage *s, double time_s);
/* Seconds per iteration; NaN with fewer than two gaps. */
struct stats_interval online_stage_rate(const struct online_stage *s);
/*
 * The evidence of a stage at any time, including the time since the last report. The first report may take grace_s;
 * until then reports of the previous configuration count. Reports of workers may come in bursts, so one of each
 * worker is assumed to be pending.
 */
struct train_wait {
	double seconds, reports;
};
struct train_wait online_stage_wait(const struct online_stage *s, double now_s, double grace_s, size_t workers);
/*
 * Does an iteration take longer than pace_s? The log generalized likelihood ratio of a Poisson process: how much
 * likelier the wait is at its own rate than at that one. It may be tested after every report and between reports. 0:
 * it is not slower.
 */
double train_wait_evidence(const struct train_wait *w, double pace_s);

#endif

/*
 * online-controller: decides under which configuration a training job continues. Pure: input is
 * reports and the time, output is decisions.
 *
 * The cost of a configuration is the time of an iteration divided by the progress an iteration
 * makes (below: progress falls with the number of workers; the slope of the losses relative to
 * that of the job's curve is weighted by its noise): it stays comparable while the losses fall. The
 * job's remaining time is the iterations to the target (stats/curve.h) times that cost.
 *
 * First, a number of configurations are explored while the job trains: exploration makes progress
 * too. Each is left as soon as its rate is known, or a sequential test shows that it is clearly
 * slower than the best. Then the job continues under the configuration with the best expected cost,
 * and from time to time tries another. A reconfiguration is made if its expected saving of the
 * remaining time exceeds its measured cost by a number of standard deviations. Exploring and trying
 * follow the same rule: the possible gain over the iterations that very likely remain, against the
 * cost of changing, measuring and changing back.
 */
#ifndef SONDE_TUNE_ONLINE_CONTROLLER_H
#define SONDE_TUNE_ONLINE_CONTROLLER_H

#include "stats/interval.h"
#include "tune/job-file.h"
#include "tune/space.h"

/*
 * One stage of a job under one configuration: iteration rate and cost of the
 * reconfiguration.
 *
 * The first reports after a reconfiguration are skipped: they were started before it, and new
 * workers have to warm up. The time of an iteration is the mean of the latest gaps between reports
 * of any worker; its interval is by batch means, because reports of several workers come in bursts.
 */

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

enum { TRAIN_STAGES_MAX = 10000, TRAIN_LOSSES_MAX = 20000000 };

enum train_phase { TRAIN_EXPLORING, TRAIN_ONLINE };
enum train_act { TRAIN_WAIT, TRAIN_MOVE, TRAIN_FINISH };

struct train_decision {
	enum train_act act;
	double point[TUNE_PARAMS_MAX]; /* MOVE: the target configuration */
	enum train_reason reason;
	uint64_t trial;
	double gain_s, cost_s, sd_s; /* expected saving, cost, and standard deviation; NaN: not computed */
};

struct online_controller {
	const struct train_plan *plan;
	struct tune_optimizer optimizer;
	enum train_phase phase;
	struct online_stage **stages; /* in time order; the last is current */
	size_t stage_count;
	double *losses;
	size_t loss_count;
	double brought;               /* progress made, in iterations of a single worker */
	struct stats_curve_fit fit;   /* of the losses at the last decision */
	struct stats_moments cost[2]; /* of reconfigurations, in seconds: live, by restart */
	double moving_s;              /* total cost of reconfigurations */
	size_t looks, moves;          /* interim analyses, and reconfigurations made */
	bool is_reached;              /* the target was reached; latched */
	double explored_s;            /* when exploration ended; NaN: not yet */
	/* private */
	struct train_finish finish;
	double now_s;                 /* time of the decision */
	double pins[TUNE_PARAMS_MAX]; /* set by the user; NaN: not set */
	bool is_pinned_anew;
	double candidate[TUNE_PARAMS_MAX]; /* proposed and not tried yet, */
	uint64_t candidate_id;             /* as this trial; 0: none */
	unsigned in_vain;                  /* proposals rejected since the last result */
	size_t look_at;                    /* number of losses at the next decision */
	size_t group_size;                 /* maximum number of workers seen under one configuration */
	size_t no_better;                  /* consecutive tries without improvement: each delays the next one */
	size_t loss_cap, stage_cap;
	struct arena arena;
};

int online_controller_init(struct online_controller *c, const struct train_plan *plan, struct sonde_err *err);
void online_controller_release(struct online_controller *c);

/* Sets the initial configuration, effective at now_s: the default, or the best recalled one. */
int online_controller_start(struct online_controller *c, double now_s, struct sonde_err *err);
/* A report of configuration `index`; a report of an earlier configuration counts only as a loss. */
int online_controller_report(struct online_controller *c, unsigned index, unsigned worker, double loss, double time_s,
		struct sonde_err *err);
/* The action to take now: call it after reports, and about every second without. */
int online_controller_decide(struct online_controller *c, double now_s, struct train_decision *d,
		struct sonde_err *err);
/* The caller has started a MOVE. */
int online_controller_moved(struct online_controller *c, const struct train_decision *d, double now_s,
		struct sonde_err *err);
/* The program has failed under the current configuration. */
void online_controller_fail(struct online_controller *c);
/* Restores from the journal: a configuration that was used, and the result of one. */
int online_controller_recall(struct online_controller *c, const double *point, struct sonde_err *err);
int online_controller_recall_value(struct online_controller *c, size_t index, bool is_failed, double value,
		struct sonde_err *err);
/* The user sets a parameter: it is fixed, and the next decision applies it. -ENOENT: unknown parameter. */
int online_controller_pin(struct online_controller *c, const char *name, const char *text, struct sonde_err *err);

struct online_stage *online_controller_now(const struct online_controller *c); /* the current stage */
/* Does a change from the current configuration need a restart? */
bool online_controller_is_restart(const struct online_controller *c, const double *point);
/* Seconds to the target under the current configuration, by the last fit; NaN if unknown. */
struct stats_interval online_controller_remaining(const struct online_controller *c);

/*
 * Shared by the two parts of the controller: its state
 * (online-controller.c) and its decisions (online-decide.c).
 */

/* Adds a trial for a point that the optimizer did not propose. */
int controller_add_trial(struct online_controller *c, const double *point, uint64_t *id, struct sonde_err *err);
/* Applies the parameters pinned by the user. */
void controller_apply_pins(const struct online_controller *c, double *point);
/* Makes c->candidate the optimizer's next proposal, kept until it is tried. -ENOENT: none left. */
int controller_have_candidate(struct online_controller *c, struct sonde_err *err);
/* Reduces the candidate to the changes that are possible without a restart, unless that was tried already. */
int controller_have_live_candidate(struct online_controller *c, struct sonde_err *err);

/*
 * The cost of configurations, in seconds per unit of progress, measured and
 * expected.
 *
 * An iteration of one of several workers makes less progress than that of a single one: it uses
 * stale parameters. All progress is counted in iterations of a single worker, so of two
 * configurations with the same rate the one with fewer workers is better.
 */

struct progress_cost {
	double mean, sd; /* NaN if unknown */
};

double progress_cost_of_workers(size_t workers);               /* progress of one iteration with that many workers */
double progress_cost_usual(const struct online_controller *c); /* its mean over all reports */
/* Of a stage, from its reports so far. */
struct progress_cost progress_cost_measured(const struct online_controller *c, const struct online_stage *s);
/* Of any configuration, by the model of all results. -ENODATA: too few results. */
int progress_cost_expected(const struct online_controller *c, const double *point, struct progress_cost *cost,
		struct sonde_err *err);
/* The configuration with the best expected cost among those with a result; point NULL: none. */
int progress_cost_best(struct online_controller *c, const double **point, struct progress_cost *cost,
		struct sonde_err *err);
/* Expected improvement of a cost over `than`: 0 where it is impossible. */
double progress_cost_improvement(const struct progress_cost *w, double than);
/*
 * Remaining iterations: by the curve, or, without a target, as many as there were. The error is multiplicative:
 * sd / mean.
 */
struct progress_cost progress_cost_to_go(const struct online_controller *c);
/* Remaining iterations at the plan's confidence: a reconfiguration or a try must pay off within them. */
double progress_cost_sure_to_go(const struct online_controller *c);

#endif

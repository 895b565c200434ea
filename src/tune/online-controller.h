/*
 * coach: decides under which configuration a job goes on. Pure: reports and the time go in, decisions come out.
 *
 * What a configuration is worth is the time an iteration takes under it, by how
 * much an iteration brings (progress-cost.h: less the more workers there are; the slope of the losses there beside
 * that of the job's curve, believed as far as the noise allows): that stays comparable while the losses fall.
 * The job's remaining time is the iterations to the target (stats/curve.h) times that.
 *
 * At first a number of configurations are explored while the job trains on: exploring is work done. Each is
 * left as soon as enough is known of it: how fast it is, or, by a sequential test, that it is clearly
 * slower than the best. Then the job goes on under the one that is expected to be best, and now and then another
 * is tried. A move is made when what it is expected to save of the remaining time exceeds what a move has been
 * measured to cost by so many standard deviations. Exploring and trying follow the same rule: what
 * may be found, by the iterations that are surely left, against going there, being there and coming back.
 */
#ifndef SONDE_TUNE_ONLINE_CONTROLLER_H
#define SONDE_TUNE_ONLINE_CONTROLLER_H

#include "tune/job-file.h"
#include "tune/online-stage.h"

enum { TRAIN_STINTS_MAX = 10000, TRAIN_LOSSES_MAX = 20000000 };

enum train_phase { TRAIN_EXPLORING, TRAIN_ONLINE };
enum train_act { TRAIN_WAIT, TRAIN_MOVE, TRAIN_FINISH };

struct train_decision {
	enum train_act act;
	double point[TUNE_PARAMS_MAX]; /* MOVE: to there */
	enum train_reason reason;
	uint64_t trial;
	double gain_s, cost_s, sd_s; /* what it is expected to save, what it costs, how sure that is; NaN: not asked */
};

struct online_controller {
	const struct train_plan *plan;
	struct tune_optimizer optimizer;
	enum train_phase phase;
	struct online_stage **stints; /* in time order; the last is in force */
	size_t stage_count;
	double *losses;
	size_t loss_count;
	double brought;               /* by them, in iterations of a single worker (progress-cost.h) */
	struct stats_curve_fit fit;   /* of the losses at the last look */
	struct stats_moments cost[2]; /* of moves in seconds: live, by restart */
	double moving_s;              /* what moves have cost in all */
	size_t looks, moves;          /* decisions whether to move, and those that were yes */
	bool is_reached;              /* the target; what comes after does not change that */
	double explored_s;            /* when exploring was over; NaN: it is not */
	/* private */
	struct train_finish finish;
	double now_s;                 /* of the decision */
	double pins[TUNE_PARAMS_MAX]; /* set by hand; NaN: not */
	bool is_pinned_anew;
	double candidate[TUNE_PARAMS_MAX]; /* asked for and not tried yet, */
	uint64_t candidate_id;             /* as this trial; 0: there is none */
	unsigned in_vain;                  /* proposals since the last value was told that were not worth a try */
	size_t look_at;                    /* the count of losses at which to look again */
	size_t crew;                       /* the most workers heard of under one configuration */
	size_t no_better;                  /* tries in a row that found nothing better: the next one waits the longer */
	size_t loss_cap, stage_cap;
	struct arena arena;
};

int online_controller_init(struct online_controller *c, const struct train_plan *plan, struct sonde_err *err);
void online_controller_release(struct online_controller *c);

/* The configuration to start with, in force from now_s on: the default, or the best that is recalled. */
int online_controller_start(struct online_controller *c, double now_s, struct sonde_err *err);
/* A report of the configuration `index`; those of earlier ones than that in force only count as losses. */
int online_controller_report(struct online_controller *c, unsigned index, unsigned worker, double loss, double time_s,
		struct sonde_err *err);
/* What to do now: after reports, and every second or so without. */
int online_controller_decide(struct online_controller *c, double now_s, struct train_decision *d,
		struct sonde_err *err);
/* A MOVE was begun. */
int online_controller_moved(struct online_controller *c, const struct train_decision *d, double now_s,
		struct sonde_err *err);
/* The program has failed under the configuration in force. */
void online_controller_fail(struct online_controller *c);
/* Of an earlier life: a configuration that was taken, and what was learnt of one. */
int online_controller_recall(struct online_controller *c, const double *point, struct sonde_err *err);
int online_controller_recall_value(struct online_controller *c, size_t index, bool is_failed, double value,
		struct sonde_err *err);
/* Somebody sets a parameter: it stays so; the next decision moves there. -ENOENT: no such parameter. */
int online_controller_pin(struct online_controller *c, const char *name, const char *text, struct sonde_err *err);

struct online_stage *online_controller_now(const struct online_controller *c); /* the stint in force */
/* Does a change from where the job is take a restart? */
bool online_controller_is_restart(const struct online_controller *c, const double *point);
/* Seconds to the target under the configuration in force, by the fit at the last look; NaN: not known. */
struct stats_interval online_controller_remaining(const struct online_controller *c);

#endif

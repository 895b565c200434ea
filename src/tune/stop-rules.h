/*
 * finish: has a job reached its target loss? Four rules, SelfTF's.
 *
 *	average  the moving average of the last losses, whoever reported them
 *	all      the last loss of every worker
 *	once     every worker was there once
 *	most     nine workers in ten were there once
 *
 * A worker counts while it reports: after a change of the configuration those that
 * have not been heard of since do not. Pure.
 */
#ifndef SONDE_TUNE_STOP_RULES_H
#define SONDE_TUNE_STOP_RULES_H

#include <stdbool.h>
#include <stddef.h>

enum { TRAIN_WINDOW_MAX = 1000, TRAIN_WORKERS_MAX = 1024 };

enum train_finish_rule { TRAIN_FINISH_AVERAGE, TRAIN_FINISH_ALL, TRAIN_FINISH_ONCE, TRAIN_FINISH_MOST };

int train_finish_find(const char *name); /* -1: there is no such rule */

struct train_finish { /* after train_finish_init */
	enum train_finish_rule rule;
	double target; /* NaN: never */
	size_t window; /* 0: one for each worker, at least 5 */
	/* private */
	double recent[TRAIN_WINDOW_MAX];
	size_t reports, since_change, here;
	struct train_worker {
		bool is_here, has_reached;
		double last;
	} workers[TRAIN_WORKERS_MAX];
};

void train_finish_init(struct train_finish *f, enum train_finish_rule rule, double target, size_t window);
void train_finish_take(struct train_finish *f, unsigned worker, double loss);
/* The configuration has changed: workers may have gone. */
void train_finish_change(struct train_finish *f);
size_t train_finish_workers(const struct train_finish *f); /* heard of since */
bool train_finish_is_reached(const struct train_finish *f);

#endif

/*
 * stop-rules: has a job reached its target loss? Four rules, SelfTF's.
 *
 *	average  the moving average of the last losses of all workers
 *	all      the last loss of every worker
 *	once     every worker has reached it once
 *	most     nine workers in ten have reached it once
 *
 * A worker counts while it reports: after a reconfiguration those that have not reported since do
 * not count. Pure.
 */
#ifndef SONDE_TUNE_STOP_RULES_H
#define SONDE_TUNE_STOP_RULES_H

#include <stdbool.h>
#include <stddef.h>

enum { TRAIN_WINDOW_MAX = 1000, TRAIN_WORKERS_MAX = 1024 };

enum train_finish_rule { TRAIN_FINISH_AVERAGE, TRAIN_FINISH_ALL, TRAIN_FINISH_ONCE, TRAIN_FINISH_MOST };

int train_finish_find(const char *name); /* -1: unknown rule */

struct train_finish { /* initialized by train_finish_init */
	enum train_finish_rule rule;
	double target; /* NaN: never */
	size_t window; /* 0: one per worker, at least 5 */
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
/* The configuration has changed: workers may be gone. */
void train_finish_change(struct train_finish *f);
size_t train_finish_workers(const struct train_finish *f); /* that have reported since */
bool train_finish_is_reached(const struct train_finish *f);

#endif

/*
 * actuator: executes the actions of rules, within limits, and can revert all changes.
 *
 * For each changed place it keeps the original value and the requested values: the latest request wins, and without
 * requests the original value is restored. Before the first change of a place the watchdog records it. Values
 * are raised to the application's floor; actions against protected applications are refused. A dry run checks and
 * logs actions without executing them. Slow actions (commands, webhooks, messages) run in the background; an
 * undelivered webhook is spooled and retried.
 */
#ifndef SONDE_LIVE_CONTROL_ACTUATOR_H
#define SONDE_LIVE_CONTROL_ACTUATOR_H

#include "live/control/action-runner.h"
#include "live/control/change.h"
#include "live/rules/rule-eval.h"
#include "live/scrape.h"

#define ACTUATOR_PLACES_MAX 128
#define ACTUATOR_TARGETS_MAX 8
#define ACTUATOR_ENDS_MAX 16

enum actuator_result { ACTUATOR_DONE, ACTUATOR_DRY, ACTUATOR_REFUSED, ACTUATOR_FAILED, ACTUATOR_RESULTS };

struct actuator_target {
	char who[64];
	char text[CHANGE_TEXT_BYTES];
};

struct actuator_place {
	struct change_place place;
	char first[CHANGE_TEXT_BYTES];
	struct actuator_target targets[ACTUATOR_TARGETS_MAX]; /* the last is in force */
	size_t target_count;
};

struct actuator_end { /* an application that is being terminated */
	char app[LIVE_NAME_BYTES], who[64];
	int64_t next_ns;
	int stage;
};

struct actuator {
	const struct rules_file *file;
	struct live_exporter *exporter; /* for the processes of applications */
	struct action_log *journal;
	struct watchdog *watchdog;
	struct action_runs action_runs;
	struct actuator_place places[ACTUATOR_PLACES_MAX];
	size_t place_count;
	struct actuator_end ends[ACTUATOR_ENDS_MAX];
	size_t end_count;
	uint64_t counts[ACTION_KINDS][ACTUATOR_RESULTS];
};

void actuator_init(struct actuator *a, const struct rules_file *f, struct live_exporter *e, struct action_log *log,
		struct watchdog *w);
void actuator_release(struct actuator *a);
bool actuator_act(void *arg, const struct rules_request *request);
void actuator_revert(void *arg, const char *who, const char *why);
void actuator_report(void *arg, const char *who, const char *what, const char *why);
/* Handles running commands and webhooks, and pending terminations. */
void actuator_tick(struct actuator *a, int64_t now_ns);
/* Restores all original values. */
void actuator_revert_all(struct actuator *a, const char *why);
const char *actuator_result_word(enum actuator_result r);

#endif

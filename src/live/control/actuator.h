/*
 * actuator: doing what rules ask, within bounds, with everything remembered and undoable.
 *
 * Of each place that was changed the first value is kept, and who wants what there: the last
 * who asked wins, and when nobody asks any more the first value is written back. Before a place
 * is changed for the first time the warden is told. Floors and protected applications are
 * refused; a dry run does all but the doing. What takes time (commands, webhooks, messages)
 * runs beside us; a webhook that was not taken is spooled and tried again.
 */
#ifndef SONDE_LIVE_CONTROL_ACTUATOR_H
#define SONDE_LIVE_CONTROL_ACTUATOR_H

#include "live/control/action-log.h"
#include "live/control/action-runner.h"
#include "live/control/watchdog.h"
#include "live/rules/rule-eval.h"
#include "live/scrape.h"

#define ACTUATOR_PLACES_MAX 128
#define ACTUATOR_WISHES_MAX 8
#define ACTUATOR_ENDS_MAX 16

enum actuator_result { ACTUATOR_DONE, ACTUATOR_DRY, ACTUATOR_REFUSED, ACTUATOR_FAILED, ACTUATOR_RESULTS };

struct actuator_target {
	char who[64];
	char text[CHANGE_TEXT_BYTES];
};

struct actuator_place {
	struct change_place place;
	char first[CHANGE_TEXT_BYTES];
	struct actuator_target wishes[ACTUATOR_WISHES_MAX]; /* the last is in force */
	size_t knob_init_count;
};

struct actuator_end { /* an application that is being ended */
	char app[LIVE_NAME_BYTES], who[64];
	int64_t next_ns;
	int stage;
};

struct actuator {
	const struct rules_file *file;
	struct live_exporter *exporter; /* knows the processes of applications */
	struct journal *journal;
	struct watchdog *watchdog;
	struct errands errands;
	struct actuator_place places[ACTUATOR_PLACES_MAX];
	size_t place_count;
	struct actuator_end ends[ACTUATOR_ENDS_MAX];
	size_t end_count;
	uint64_t counts[ACTION_KINDS][ACTUATOR_RESULTS];
};

void actuator_init(struct actuator *a, const struct rules_file *f, struct live_exporter *e, struct journal *j,
		struct watchdog *w);
void actuator_release(struct actuator *a);
bool actuator_act(void *arg, const struct rules_request *request);
void actuator_revert(void *arg, const char *who, const char *why);
void actuator_tell(void *arg, const char *who, const char *what, const char *why);
/* What is under way: commands, webhooks, ends. */
void actuator_tick(struct actuator *a, int64_t now_ns);
/* Everything as it was. */
void actuator_revert_all(struct actuator *a, const char *why);
const char *actuator_result_word(enum actuator_result r);

#endif

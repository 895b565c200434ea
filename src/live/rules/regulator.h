/*
 * regulator: holding a measure at its target by one effort after the other. Pure: time and
 * measure are given, efforts come back.
 *
 * Each rung of the ladder has an effort from 0 (at rest) to 1 (all that is allowed). Short of
 * the target the effort of the current rung is raised: by a constant (aimd: where efforts are
 * factors, that is a multiplication), in proportion to the error and its integral (pi, with a
 * clamp and no wind-up), or at once (threshold). Beyond the dead band the last rung that is not
 * at rest gives back, slowly. A rung that has been full for `saturation_ns` and does not reach
 * the target is saturated: when it did not even respond it goes back to rest, so that nobody
 * is starved for nothing; then the next rung is tried; behind the last there is only to report,
 * and after `retry_ns` to try again.
 */
#ifndef SONDE_LIVE_RULES_REGULATOR_H
#define SONDE_LIVE_RULES_REGULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGULATOR_RUNGS_MAX 8

enum regulator_method { REGULATOR_AIMD, REGULATOR_PI, REGULATOR_THRESHOLD };

struct regulator_settings {
	enum regulator_method method;
	double target;
	bool is_upper; /* the measure must be at most the target */
	double band;   /* dead band beyond the target, as a part of it */
	double raise, lower;
	double proportional, integral;
	double response; /* an improvement by this part of the target is a response */
	int64_t saturation_ns, retry_ns;
	size_t rung_count;
};

#define REGULATOR_USUAL \
	{ \
		.band = 0.15, .raise = 0.08, .lower = 0.01, .proportional = 0.3, .integral = 0.5, .response = 0.03, \
		.saturation_ns = 3000000000, .retry_ns = 60000000000 \
	}

enum regulator_event { REGULATOR_SAME, REGULATOR_MOVED, REGULATOR_ESCALATED, REGULATOR_SATURATED, REGULATOR_RECOVERED };

struct regulator {
	double efforts[REGULATOR_RUNGS_MAX];
	size_t rung;
	bool is_saturated;
	/* private */
	double entry[REGULATOR_RUNGS_MAX]; /* how short it was when the rung was begun */
	double integral;
	int64_t full_ns, retry_ns, last_ns; /* 0: not */
};

/* The next step; efforts that changed are told to the plant by the caller. */
enum regulator_event regulator_step(struct regulator *r, const struct regulator_settings *s, double measure,
		int64_t now_ns);
/* How short of its target, as a part of it; negative: beyond. */
double regulator_shortfall(const struct regulator_settings *s, double measure);
const char *regulator_event_word(enum regulator_event event);

#endif

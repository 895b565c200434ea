/*
 * regulator: holds a measure at its target by a sequence of actions (rungs). A pure function: time and measure are
 * given, efforts are returned.
 *
 * Each rung has an effort from 0 (rest) to 1 (maximum). Below the target the effort of the current rung is raised:
 * by a constant (aimd: a multiplication where the values are geometric), in proportion to the error
 * and its integral (pi, with a clamp and anti-windup), or to the maximum at once (threshold). Beyond the dead band
 * the last active rung is lowered slowly. A rung that is at full effort for `saturation_ns` without reaching the
 * target is saturated. If the measure did not respond at all, it returns to rest, so that no application is starved
 * in vain. Then the next rung is used. After the last rung the regulator reports the failure, and retries after
 * `retry_ns`.
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
	bool is_upper; /* upper limit: the measure must be at most the target */
	double band;   /* dead band beyond the target, relative to it */
	double raise, lower;
	double proportional, integral;
	double response; /* minimum improvement, relative to the target, that is a response */
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
	double entry[REGULATOR_RUNGS_MAX]; /* shortfall when the rung was started */
	double integral;
	int64_t full_ns, retry_ns, last_ns; /* 0: unset */
};

/* Performs one step; the caller applies efforts that changed. */
enum regulator_event regulator_step(struct regulator *r, const struct regulator_settings *s, double measure,
		int64_t now_ns);
/* Distance to the target, relative to it; negative if beyond. */
double regulator_shortfall(const struct regulator_settings *s, double measure);
const char *regulator_event_word(enum regulator_event event);

#endif

/*
 * action: what a rule does, as one line of words.
 *
 *	weight detector 300          CPU weight of the application's cgroup, 1 to 10000; default 100
 *	io detector 300              the same for its disks
 *	cap hogs 0.5                 CPU limit, in cores
 *	high hogs 400M               memory limit for throttling and reclaim (memory.high)
 *	memory hogs 512M             hard memory limit
 *	pids hogs 100                maximum number of processes and threads
 *	freeze hogs, thaw hogs
 *	signal hogs USR1             to every process of the cgroup
 *	end hogs                     SIGINT, then SIGTERM, then SIGKILL
 *	knob detector batch 8        a knob of the application
 *	exec notify-me --now         a command, without a shell
 *	webhook http://host/path     an alert in Alertmanager's format
 *	mqtt host:1883 topic [1]     a message; 1: wait for the broker's acknowledgement
 *	report words...              write to the action log only
 *
 * For a regulator, weight, io, cap, high, memory and knob have a range instead of a value, from rest to full effort:
 * `weight detector 100..3000`, `cap hogs 2..0.2`.
 */
#ifndef SONDE_LIVE_RULES_ACTION_H
#define SONDE_LIVE_RULES_ACTION_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum action_kind { /* in the order in which regulators use them: weight before cap */
	ACTION_WEIGHT,
	ACTION_IO,
	ACTION_CAP,
	ACTION_HIGH,
	ACTION_MEMORY,
	ACTION_PIDS,
	ACTION_KNOB,
	ACTION_FREEZE,
	ACTION_THAW,
	ACTION_SIGNAL,
	ACTION_END,
	ACTION_EXEC,
	ACTION_WEBHOOK,
	ACTION_MQTT,
	ACTION_REPORT,
	ACTION_KINDS
};

struct action {
	enum action_kind kind;
	const char *text; /* as it was written */
	const char *app;  /* NULL: none */
	const char *name; /* of the knob or topic; the URL; the text of the report */
	const char *host; /* of the broker */
	unsigned port;
	int qos;
	int signal;
	double value;       /* memory in bytes */
	double rest, full;  /* of a range */
	const char *choice; /* a knob's non-numeric value */
	char **argv;
};

int action_parse(struct action *a, const char *text, bool is_range, struct arena *arena, struct sonde_err *err);
const char *action_word(enum action_kind kind);
/* The value at an effort from 0 to 1: geometric interpolation, linear for knobs. */
double action_value(const struct action *a, double effort);

/*
 * Holds a measure at its target by a sequence of actions (rungs). A pure function: time and measure are
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

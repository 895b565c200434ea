/*
 * rules-file: a rules file: applications, rules, regulators and safety limits.
 *
 *	interval: 250ms
 *	apps: { detector: { protected: true }, hogs: { floor: { cpus: 0.2 } } }
 *	rules:
 *	  - name: slow
 *	    when: rate(sonde_steps_total{app="detector"}[5s]) < 30
 *	    for: 2s
 *	    do: [weight detector 300]
 *	    cooldown: 10s
 *	regulators:
 *	  - name: fps
 *	    measure: rate(sonde_steps_total{app="detector"}[1s])
 *	    at_least: 30
 *	    act: [weight detector 100..3000, cap hogs 2..0.2]
 *
 * Expressions and actions are compiled and checked when the file is loaded; the result lives in the arena.
 */
#ifndef SONDE_LIVE_RULES_RULES_FILE_H
#define SONDE_LIVE_RULES_RULES_FILE_H

#include "live/rules/action.h"
#include "live/rules/rule-expr.h"

#define RULES_MAX 64
#define RULES_ACTIONS_MAX 8
#define RULES_APPS_MAX 64

struct rules_app {
	const char *name;
	const char *cgroup;                            /* NULL: found by its processes */
	bool is_protected;                             /* no action may reduce its resources */
	double floor_cpus, floor_weight, floor_memory; /* 0: none */
};

struct rule {
	const char *name;
	const char *when_text, *until_text;
	struct expr *when, *until; /* until NULL: clears when `when` is false */
	int64_t for_ns, cooldown_ns, hold_ns;
	int64_t priority; /* higher first */
	struct action actions[RULES_ACTIONS_MAX], otherwise[RULES_ACTIONS_MAX];
	size_t action_count, otherwise_count;
};

struct rules_regulator {
	const char *name;
	const char *measure_text;
	struct expr *measure;
	double at_least, at_most; /* NaN: unset */
	struct regulator_settings settings;
	struct action rungs[REGULATOR_RUNGS_MAX];
};

struct rules_file {
	int64_t interval_ns, stale_ns, lease_ns;
	bool is_dry_run, is_utc;
	const char *journal;  /* NULL: none */
	const char *off_file; /* while it exists no actions run; NULL: none */
	const char *spool;    /* directory for undelivered webhooks; NULL: they are lost, which is logged */
	int64_t rate_max;     /* actions per minute */
	struct rules_app apps[RULES_APPS_MAX];
	size_t app_count;
	struct rule rules[RULES_MAX];
	size_t rule_count;
	struct rules_regulator regulators[RULES_MAX];
	size_t regulator_count;
};

int rules_load(struct rules_file *f, const char *path, struct arena *arena, struct sonde_err *err);
/* NULL if it has no entry. */
const struct rules_app *rules_app(const struct rules_file *f, const char *name);

#endif

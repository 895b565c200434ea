/*
 * rule-eval: evaluates rules and regulators, tick by tick. Pure: samples, time and the execution of actions come
 * from the caller, so that it also runs on a recorded run or a simulation.
 *
 * A rule is idle. It is pending while its condition has been true for less than `for`, then firing, and its actions
 * run once. It clears when the condition is false (or `until` is true): its `else` actions run, its changes are
 * reverted, and it cools down. If the condition is unknown, an idle rule stays idle, a pending one restarts, and a
 * firing one stays so for up to `hold` and then clears: no action is based on unknown values.
 */
#ifndef SONDE_LIVE_RULES_RULE_EVAL_H
#define SONDE_LIVE_RULES_RULE_EVAL_H

#include "base/buf.h"
#include "live/rules/rules-file.h"

enum rule_state { RULE_IDLE, RULE_PENDING, RULE_FIRING, RULE_COOLING };

struct rules_request {
	const char *who; /* rule or regulator */
	const struct action *action;
	double value; /* of a regulator's rung, else the action's */
	const char *why;
	bool is_clearing; /* an `else` action */
	int64_t real_ns;
};

struct rules_ops {
	void *arg;
	/* Executes the action and logs its result. Returns false if it was not executed. */
	bool (*act)(void *arg, const struct rules_request *request);
	/* Reverts the changes of `who`. */
	void (*revert)(void *arg, const char *who, const char *why);
	/* A regulator has no action left, or has one again. */
	void (*tell)(void *arg, const char *who, const char *what, const char *why);
};

struct rule_status {
	enum rule_state state;
	struct expr_value condition;
	int64_t since_ns; /* time of entering this state */
	int64_t known_ns; /* when the condition was last known */
	int64_t cool_ns;  /* does not fire before this time */
	uint64_t fired;
	char why[512];
};

struct regulator_status {
	struct regulator regulator;
	struct expr_value measure;
	double told[REGULATOR_RUNGS_MAX]; /* values in force; NaN: never set */
	enum regulator_event last;
};

struct rules_engine {
	const struct rules_file *file;
	struct memory memory; /* the caller adds samples */
	struct rule_status rules[RULES_MAX];
	struct regulator_status regulators[RULES_MAX];
	uint64_t actions, withheld; /* withheld: above max_rate */
	/* private */
	double budget;
	int64_t last_ns;
};

int rules_engine_init(struct rules_engine *e, const struct rules_file *f, struct sonde_err *err);
void rules_engine_release(struct rules_engine *e);
void rules_engine_tick(struct rules_engine *e, int64_t mono_ns, int64_t real_ns, const struct rules_ops *ops);
const char *rule_state_word(enum rule_state state);
/* Prints every rule and regulator with the values of its parts. */
void rules_engine_explain(struct buf *out, const struct rules_engine *e, int64_t mono_ns, int64_t real_ns);

#endif

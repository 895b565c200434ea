/*
 * engine: rules and regulators at work, one tick after the other. Pure: samples, time and the
 * doing come from outside, so that a recorded run or a simulated plant serves as well as life.
 *
 * A rule is idle; pending while its condition has been true for less than `for`; firing from
 * then on, when its actions are done once; it clears when the condition is false (or `until` is
 * true), when its `else` actions are done and what it changed is put back, and then cools down.
 * Unknown is neither: an idle rule stays idle, a pending one begins anew, a firing one stays
 * as it is for `hold` at most and clears then: nobody acts on what is not known.
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
	/* Do it; whatever comes of it is the doer's to tell. Returns false when it was not done. */
	bool (*act)(void *arg, const struct rules_request *request);
	/* Put back what this one changed. */
	void (*revert)(void *arg, const char *who, const char *why);
	/* A regulator has no way left, or has one again. */
	void (*tell)(void *arg, const char *who, const char *what, const char *why);
};

struct rule_status {
	enum rule_state state;
	struct expr_value condition;
	int64_t since_ns; /* in this state */
	int64_t known_ns; /* when the condition was last known */
	int64_t cool_ns;  /* until then it does not fire */
	uint64_t fired;
	char why[512];
};

struct regulator_status {
	struct regulator regulator;
	struct expr_value measure;
	double told[REGULATOR_RUNGS_MAX]; /* values in force; NaN: never */
	enum regulator_event last;
};

struct rules_engine {
	const struct rules_file *file;
	struct memory memory; /* the caller adds samples */
	struct rule_status rules[RULES_MAX];
	struct regulator_status regulators[RULES_MAX];
	uint64_t actions, withheld; /* withheld: beyond max_rate */
	/* private */
	double budget;
	int64_t last_ns;
};

int rules_engine_init(struct rules_engine *e, const struct rules_file *f, struct sonde_err *err);
void rules_engine_release(struct rules_engine *e);
void rules_engine_tick(struct rules_engine *e, int64_t mono_ns, int64_t real_ns, const struct rules_ops *ops);
const char *rule_state_word(enum rule_state state);
/* Every rule and regulator with the values of its parts. */
void rules_engine_explain(struct buf *out, const struct rules_engine *e, int64_t mono_ns, int64_t real_ns);

#endif

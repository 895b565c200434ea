#include "live/rules/rule-eval.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdio.h>

/* Smaller relative changes of a regulator's value are not written. */
#define STEP_RATIO 0.005

struct tick {
	struct rules_engine *engine;
	struct expr_now now;
	const struct rules_ops *ops;
};

const char *rule_state_word(enum rule_state state)
{
	static const char *const words[] = { "idle", "pending", "firing", "cooling" };

	return words[state];
}

int rules_engine_init(struct rules_engine *e, const struct rules_file *f, struct sonde_err *err)
{
	int rc = 0;

	*e = (struct rules_engine){ .file = f, .memory = MEMORY_INIT, .budget = (double)f->rate_max };
	for (size_t i = 0; i < f->rule_count && rc == 0; i++) {
		rc = rule_expr_watch(f->rules[i].when, &e->memory);
		if (rc == 0 && f->rules[i].until)
			rc = rule_expr_watch(f->rules[i].until, &e->memory);
	}
	for (size_t i = 0; i < f->regulator_count && rc == 0; i++) {
		rc = rule_expr_watch(f->regulators[i].measure, &e->memory);
		for (size_t k = 0; k < REGULATOR_RUNGS_MAX; k++)
			e->regulators[i].told[k] = NAN;
	}
	return rc < 0 ? err_sys(err, -rc, "cannot prepare the rules") : 0;
}

void rules_engine_release(struct rules_engine *e)
{
	memory_release(&e->memory);
}

static struct expr_now now_of(const struct rules_engine *e, int64_t mono_ns, int64_t real_ns)
{
	return (struct expr_now){ mono_ns, real_ns, e->file->stale_ns, e->file->is_utc };
}

static bool request(struct tick *t, const struct rules_request *r)
{
	struct rules_engine *e = t->engine;

	if (e->budget < 1) {
		e->withheld++;
		return false;
	}
	e->budget -= 1;
	e->actions++;
	return t->ops->act(t->ops->arg, r);
}

static void act_all(struct tick *t, const char *who, const struct action *all, size_t count, const char *why,
		bool is_clearing)
{
	for (size_t i = 0; i < count; i++) {
		struct rules_request r = { .who = who,
			.action = &all[i],
			.value = all[i].value,
			.why = why,
			.is_clearing = is_clearing,
			.real_ns = t->now.real_ns };

		request(t, &r);
	}
}

static void enter(struct rule_status *s, enum rule_state state, const struct tick *t)
{
	s->state = state;
	s->since_ns = t->now.mono_ns;
}

static bool should_clear(struct tick *t, const struct rule *rule, struct rule_status *s)
{
	struct expr_value until;

	if (rule->until) {
		until = rule_expr_eval(rule->until, &t->engine->memory, &t->now);
		if (until.is_known)
			s->known_ns = t->now.mono_ns;
		if (until.is_known && until.number != 0)
			return true;
	} else if (s->condition.is_known && s->condition.number == 0) {
		return true;
	}
	return t->now.mono_ns - s->known_ns > rule->hold_ns;
}

static void step_rule(struct tick *t, const struct rule *rule, struct rule_status *s)
{
	CLEANUP(buf_release) struct buf why = BUF_INIT;
	bool is_true;

	s->condition = rule_expr_eval(rule->when, &t->engine->memory, &t->now);
	is_true = s->condition.is_known && s->condition.number != 0;
	if (s->condition.is_known)
		s->known_ns = t->now.mono_ns;
	rule_expr_why(&why, rule->when, &t->engine->memory, &t->now);
	snprintf(s->why, sizeof(s->why), "%s", why.data);
	if (s->state == RULE_COOLING && t->now.mono_ns >= s->cool_ns)
		enter(s, RULE_IDLE, t);
	if (s->state == RULE_IDLE && is_true)
		enter(s, RULE_PENDING, t);
	if (s->state == RULE_PENDING && !is_true)
		enter(s, RULE_IDLE, t);
	if (s->state == RULE_PENDING && t->now.mono_ns - s->since_ns >= rule->for_ns) {
		enter(s, RULE_FIRING, t);
		s->fired++;
		act_all(t, rule->name, rule->actions, rule->action_count, s->why, false);
	} else if (s->state == RULE_FIRING && should_clear(t, rule, s)) {
		if (rule->otherwise_count)
			act_all(t, rule->name, rule->otherwise, rule->otherwise_count, s->why, true);
		t->ops->revert(t->ops->arg, rule->name, s->why);
		s->cool_ns = t->now.mono_ns + rule->cooldown_ns;
		enter(s, rule->cooldown_ns ? RULE_COOLING : RULE_IDLE, t);
	}
}

/* Requests values that have changed enough; integers for integral kinds. */
static void report_rungs(struct tick *t, const struct rules_regulator *g, struct regulator_status *s, const char *why)
{
	for (size_t i = 0; i < g->settings.rung_count; i++) {
		double effort = s->regulator.efforts[i], value = action_value(&g->rungs[i], effort);
		struct rules_request r = { .who = g->name,
			.action = &g->rungs[i],
			.why = why,
			.real_ns = t->now.real_ns };

		if (g->rungs[i].kind == ACTION_WEIGHT || g->rungs[i].kind == ACTION_IO)
			value = round(value);
		if (isnan(s->told[i]) && effort <= 0)
			continue;
		if (value == s->told[i] ||
				(fabs(value - s->told[i]) < STEP_RATIO * fabs(value) && effort > 0 && effort < 1))
			continue;
		r.value = value;
		if (request(t, &r))
			s->told[i] = value;
	}
}

static void step_regulator(struct tick *t, const struct rules_regulator *g, struct regulator_status *s)
{
	CLEANUP(buf_release) struct buf why = BUF_INIT;

	s->measure = rule_expr_eval(g->measure, &t->engine->memory, &t->now);
	if (!s->measure.is_known)
		return;
	s->last = regulator_step(&s->regulator, &g->settings, s->measure.number, t->now.mono_ns);
	buf_addf(&why, "%s = %.6g, target: %s %.6g", g->measure_text, s->measure.number,
			g->settings.is_upper ? "at most" : "at least", g->settings.target);
	report_rungs(t, g, s, why.data);
	if (s->last >= REGULATOR_ESCALATED)
		t->ops->tell(t->ops->arg, g->name, regulator_event_word(s->last), why.data);
}

void rules_engine_tick(struct rules_engine *e, int64_t mono_ns, int64_t real_ns, const struct rules_ops *ops)
{
	struct tick t = { e, now_of(e, mono_ns, real_ns), ops };

	if (e->last_ns)
		e->budget += (double)(mono_ns - e->last_ns) / 60e9 * (double)e->file->rate_max;
	if (e->budget > (double)e->file->rate_max)
		e->budget = (double)e->file->rate_max;
	e->last_ns = mono_ns;
	for (size_t i = 0; i < e->file->rule_count; i++)
		step_rule(&t, &e->file->rules[i], &e->rules[i]);
	for (size_t i = 0; i < e->file->regulator_count; i++)
		step_regulator(&t, &e->file->regulators[i], &e->regulators[i]);
}

void rules_engine_explain(struct buf *out, const struct rules_engine *e, int64_t mono_ns, int64_t real_ns)
{
	struct expr_now now = now_of(e, mono_ns, real_ns);

	for (size_t i = 0; i < e->file->rule_count; i++) {
		const struct rule *rule = &e->file->rules[i];

		buf_addf(out, "rule %s: %s, fired %llu times\n", rule->name, rule_state_word(e->rules[i].state),
				(unsigned long long)e->rules[i].fired);
		rule_expr_explain(out, rule->when, &e->memory, &now);
	}
	for (size_t i = 0; i < e->file->regulator_count; i++) {
		const struct rules_regulator *g = &e->file->regulators[i];

		buf_addf(out, "regulator %s: target %s %.6g\n", g->name, g->settings.is_upper ? "at most" : "at least",
				g->settings.target);
		rule_expr_explain(out, g->measure, &e->memory, &now);
	}
}

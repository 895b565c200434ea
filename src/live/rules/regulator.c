#include "live/rules/regulator.h"

#include <math.h>

#define FULL 0.999

double regulator_shortfall(const struct regulator_settings *s, double measure)
{
	double short_by = s->is_upper ? measure - s->target : s->target - measure;

	return short_by / fabs(s->target);
}

const char *regulator_event_word(enum regulator_event event)
{
	static const char *const words[] = { "same", "moved", "escalated", "saturated", "recovered" };

	return words[event];
}

static double clamp(double effort)
{
	return effort < 0 ? 0 : effort > 1 ? 1 : effort;
}

/* Anti-windup: the integral stops where the effort is clamped. */
static double by_pi(struct regulator *r, const struct regulator_settings *s, double shortfall, double seconds)
{
	double integral = r->integral + s->integral * shortfall * seconds;
	double effort = s->proportional * shortfall + integral;

	if ((effort <= 1 || shortfall < 0) && (effort >= 0 || shortfall > 0))
		r->integral = integral;
	return clamp(s->proportional * shortfall + r->integral);
}

static double next_effort(struct regulator *r, const struct regulator_settings *s, size_t rung, double shortfall,
		double seconds)
{
	double now = r->efforts[rung];

	switch (s->method) {
	case REGULATOR_PI:
		return by_pi(r, s, shortfall, seconds);
	case REGULATOR_THRESHOLD:
		return shortfall > 0;
	case REGULATOR_AIMD:
		break;
	}
	return clamp(shortfall > 0 ? now + s->raise : now - s->lower);
}

static void enter(struct regulator *r, size_t rung, double shortfall)
{
	r->rung = rung;
	r->entry[rung] = shortfall;
	r->integral = r->efforts[rung];
	r->full_ns = 0;
}

/* The rung was at full effort for `saturation_ns` without reaching the target. */
static enum regulator_event give_up(struct regulator *r, const struct regulator_settings *s, double shortfall,
		int64_t now_ns)
{
	if (r->entry[r->rung] - shortfall < s->response)
		r->efforts[r->rung] = 0;
	if (r->rung + 1 < s->rung_count) {
		enter(r, r->rung + 1, shortfall);
		return REGULATOR_ESCALATED;
	}
	r->is_saturated = true;
	r->retry_ns = now_ns + s->retry_ns;
	return REGULATOR_SATURATED;
}

static enum regulator_event raise_effort(struct regulator *r, const struct regulator_settings *s, double shortfall,
		double seconds, int64_t now_ns)
{
	double before = r->efforts[r->rung];

	if (before <= 0 && !r->full_ns)
		r->entry[r->rung] = shortfall;
	r->efforts[r->rung] = next_effort(r, s, r->rung, shortfall, seconds);
	if (r->efforts[r->rung] < FULL) {
		r->full_ns = 0;
		return r->efforts[r->rung] != before ? REGULATOR_MOVED : REGULATOR_SAME;
	}
	r->efforts[r->rung] = 1;
	if (!r->full_ns)
		r->full_ns = now_ns;
	if (now_ns - r->full_ns >= s->saturation_ns)
		return give_up(r, s, shortfall, now_ns);
	return before < 1 ? REGULATOR_MOVED : REGULATOR_SAME;
}

static enum regulator_event lower_effort(struct regulator *r, const struct regulator_settings *s, double shortfall,
		double seconds)
{
	double before;

	r->full_ns = 0;
	while (r->rung > 0 && r->efforts[r->rung] <= 0)
		enter(r, r->rung - 1, r->entry[r->rung - 1]);
	before = r->efforts[r->rung];
	r->efforts[r->rung] = next_effort(r, s, r->rung, shortfall, seconds);
	return r->efforts[r->rung] != before ? REGULATOR_MOVED : REGULATOR_SAME;
}

/* All rungs are saturated: wait until the retry time, or until the target is reached without us. */
static bool is_waiting(struct regulator *r, const struct regulator_settings *s, double shortfall, int64_t now_ns)
{
	size_t rung = 0;

	if (shortfall > 0 && now_ns < r->retry_ns)
		return true;
	r->is_saturated = false;
	while (rung + 1 < s->rung_count && r->efforts[rung] >= FULL)
		rung++;
	enter(r, rung, shortfall);
	return false;
}

enum regulator_event regulator_step(struct regulator *r, const struct regulator_settings *s, double measure,
		int64_t now_ns)
{
	double shortfall = regulator_shortfall(s, measure);
	double seconds = r->last_ns ? (double)(now_ns - r->last_ns) / 1e9 : 0;
	bool was_saturated = r->is_saturated;

	r->last_ns = now_ns;
	if (was_saturated && is_waiting(r, s, shortfall, now_ns))
		return REGULATOR_SAME;
	if (was_saturated && shortfall <= 0)
		return REGULATOR_RECOVERED;
	if (shortfall > 0)
		return raise_effort(r, s, shortfall, seconds, now_ns);
	if (shortfall < -s->band)
		return lower_effort(r, s, shortfall + s->band, seconds);
	r->full_ns = 0;
	return REGULATOR_SAME;
}

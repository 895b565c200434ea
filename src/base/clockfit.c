#include "base/clockfit.h"

#include <errno.h>

#define STRETCHES 32 /* intervals of time; the fastest ping of each counts */

struct knot {
	double t_ns, diff_ns; /* since the first ping; relative to the first difference */
	double half_ns;       /* of the round trip */
};

static int64_t trip(const struct clock_ping *p)
{
	return p->received_ns - p->sent_ns;
}

static size_t find_knots(const struct clock_ping *pings, size_t count, struct knot *knots, int64_t base_ns)
{
	const struct clock_ping *best[STRETCHES] = { 0 };
	int64_t first = pings[0].sent_ns, span = pings[count - 1].received_ns - first;
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		const struct clock_ping *p = &pings[i];
		double part = span > 0 ? (double)(p->sent_ns - first) / (double)span : 0;
		size_t at = part <= 0 ? 0 : part >= 1 ? STRETCHES - 1 : (size_t)(part * STRETCHES);
		if (trip(p) >= 0 && (!best[at] || trip(p) < trip(best[at])))
			best[at] = p;
	}
	for (size_t i = 0; i < STRETCHES; i++) {
		if (!best[i])
			continue;
		int64_t middle = best[i]->sent_ns + trip(best[i]) / 2;
		knots[n++] = (struct knot){ .t_ns = (double)(middle - first),
			.diff_ns = (double)(best[i]->theirs_ns - middle - base_ns),
			.half_ns = (double)trip(best[i]) / 2 + 1 };
	}
	return n;
}

struct line {
	double t_ns, diff_ns, drift, bound_ns;
};

/* Weighted least squares; faster pings weigh more. Without has_drift, the slope is 0. */
static struct line lay(const struct knot *knots, size_t n, int has_drift)
{
	double w = 0, t = 0, d = 0, tt = 0, td = 0;
	for (size_t i = 0; i < n; i++) {
		double weight = 1 / (knots[i].half_ns * knots[i].half_ns);
		w += weight;
		t += weight * knots[i].t_ns;
		d += weight * knots[i].diff_ns;
	}
	struct line l = { .t_ns = t / w, .diff_ns = d / w };
	for (size_t i = 0; i < n; i++) {
		double weight = 1 / (knots[i].half_ns * knots[i].half_ns), x = knots[i].t_ns - l.t_ns;
		tt += weight * x * x;
		td += weight * x * (knots[i].diff_ns - l.diff_ns);
	}
	l.drift = has_drift && tt > 0 ? td / tt : 0;
	for (size_t i = 0; i < n; i++) {
		double off = knots[i].diff_ns - (l.diff_ns + l.drift * (knots[i].t_ns - l.t_ns));
		double reach = (off < 0 ? -off : off) + knots[i].half_ns;
		l.bound_ns = reach > l.bound_ns ? reach : l.bound_ns;
	}
	return l;
}

int clock_fit(const struct clock_ping *pings, size_t count, struct clock_fit *out)
{
	struct knot knots[STRETCHES];
	int64_t base_ns = count ? pings[0].theirs_ns - pings[0].sent_ns : 0;
	size_t n = count ? find_knots(pings, count, knots, base_ns) : 0;
	if (!n)
		return -EINVAL;
	struct line still = lay(knots, n, 0), moving = lay(knots, n, 1);
	const struct line *l = moving.bound_ns < still.bound_ns ? &moving : &still;
	*out = (struct clock_fit){ .at_ns = pings[0].sent_ns + (int64_t)l->t_ns,
		.offset_ns = base_ns + (int64_t)l->diff_ns,
		.drift = l->drift,
		.bound_ns = (int64_t)l->bound_ns + 1,
		.trip_ns = INT64_MAX,
		.pings = count };
	for (size_t i = 0; i < count; i++)
		if (trip(&pings[i]) >= 0 && trip(&pings[i]) < out->trip_ns)
			out->trip_ns = trip(&pings[i]);
	return 0;
}

int64_t clock_fit_ours(const struct clock_fit *f, int64_t theirs_ns)
{
	double since = (double)(theirs_ns - f->offset_ns - f->at_ns);
	return f->at_ns + (theirs_ns - f->offset_ns - f->at_ns) - (int64_t)(since * f->drift / (1 + f->drift));
}

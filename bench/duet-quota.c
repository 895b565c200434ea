#include "duet-quota.h"

#include <math.h>

#define PERIOD_MS 100.0
#define SHARE_MS 33.0

static double phase_ms(struct stats_rng *r)
{
	return 300 + 900 * stats_rng_uniform(r);
}

void quota_start(struct quota *q, struct stats_rng *r)
{
	*q = (struct quota){ .rng = r, .is_limited = stats_rng_below(r, 2), .left = SHARE_MS };
	q->toggle = phase_ms(r) * stats_rng_uniform(r);
	q->period = -PERIOD_MS * stats_rng_uniform(r);
}

/* Advance to that time, which is not after the next change. */
static void pass(struct quota *q, double until)
{
	q->now = until;
	if (q->now >= q->toggle) {
		q->is_limited = !q->is_limited;
		q->toggle += phase_ms(q->rng);
	}
	if (q->now >= q->period + PERIOD_MS) {
		q->period += PERIOD_MS;
		q->left = SHARE_MS;
	}
}

double quota_run(struct quota *q, double ms)
{
	double start = q->now;

	while (ms > 0) {
		double next = fmin(q->toggle, q->period + PERIOD_MS), may = q->is_limited ? q->left : ms;
		double run = fmin(fmin(ms, may), next - q->now);

		if (q->is_limited && q->left <= 0) {
			pass(q, next);
			continue;
		}
		ms -= run;
		q->left -= run;
		pass(q, q->now + run < next ? q->now + run : next);
	}
	return q->now - start;
}

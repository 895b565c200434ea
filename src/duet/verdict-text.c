/* verdict-text: a comparison in sentences. */
#include "duet/duet-report.h"

#include <inttypes.h>
#include <math.h>

const char *duet_stop_name(enum duet_stop stop)
{
	static const char *const names[] = {
		[DUET_DECIDED] = "decided",
		[DUET_BUDGET_OVER] = "budget",
		[DUET_RUNS_OVER] = "runs",
		[DUET_INTERRUPTED] = "interrupted",
		[DUET_FAILED] = "failed",
	};

	return names[stop];
}

/* Share of the time with CPU pressure above which a warning is printed. */
#define BUSY_SHARE 0.3
#define NARROWER 2 /* how many times narrower the interval must be to be mentioned */

static double percent(double ratio)
{
	return 100 * (ratio - 1);
}

/* Returns the number of significant digits. */
static int digits_for(double value)
{
	double size = fabs(value);

	return size >= 100 ? 0 : size >= 1 ? 1 : size >= 0.1 ? 2 : 3;
}

void duet_say_change(struct buf *out, double ratio)
{
	double change = percent(ratio);

	if (!isfinite(change))
		buf_adds(out, "not known");
	else
		buf_addf(out, "%.*f %% %s", digits_for(change), fabs(change), change < 0 ? "faster" : "slower");
}

static void say_number(struct buf *out, double value, int digits)
{
	if (!isfinite(value))
		buf_adds(out, value < 0 ? "-∞" : "∞");
	else
		buf_addf(out, "%+.*f", digits, value);
}

/* Returns the digits that the width of the interval justifies. */
static int digits_of(const struct stats_interval *ratio)
{
	return digits_for(isfinite(ratio->hi) ? percent(ratio->hi) - percent(ratio->lo) : 1);
}

void duet_say_bounds(struct buf *out, const struct stats_interval *ratio)
{
	int digits = digits_of(ratio);

	say_number(out, percent(ratio->lo), digits);
	buf_adds(out, " to ");
	say_number(out, percent(ratio->hi), digits);
	buf_adds(out, " %");
}

void duet_say_interval(struct buf *out, const struct stats_interval *ratio)
{
	buf_addf(out, "%g %% interval ", 100 * ratio->level);
	duet_say_bounds(out, ratio);
}

void duet_say_estimate(struct buf *out, const struct stats_interval *ratio)
{
	if (isnan(ratio->estimate)) {
		buf_adds(out, "not known");
		return;
	}
	say_number(out, percent(ratio->estimate), digits_of(ratio));
	buf_adds(out, " %");
}

static void say_basis(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	const struct duet_result *result = e->result;

	buf_adds(out, " (");
	duet_say_interval(out, &result->effect.ratio);
	buf_addf(out, ", %zu run%s", result->run_count, result->run_count == 1 ? "" : "s");
	if (result->pairs.count != result->run_count)
		buf_addf(out, " with %zu pairs", result->pairs.count);
	buf_addf(out, " in %.1f s)", result->seconds);
}

static void say_undecided(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	const struct duet_result *result = e->result;
	int direction = result->effect.is_indicative ? 0 : stats_direction(&result->effect.log_ratio);

	if (!isfinite(result->effect.ratio.estimate)) {
		buf_adds(out, "nothing was measured");
		return;
	}
	if (direction)
		buf_addf(out, "B is %s than A, but whether by more than %g %% is not decided: ",
				direction > 0 ? "slower" : "faster", percent(r->setup->margin));
	else
		buf_addf(out, "not decided whether B differs from A by more than %g %%: ", percent(r->setup->margin));
	duet_say_change(out, result->effect.ratio.estimate);
	say_basis(out, r, e);
}

void duet_say_answer(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	const struct duet_result *result = e->result;

	switch (result->verdict) {
	case STATS_SLOWER:
	case STATS_FASTER:
		buf_adds(out, "B is ");
		duet_say_change(out, result->effect.ratio.estimate);
		buf_adds(out, " than A");
		if (fabs(result->effect.log_ratio.estimate) > M_LN2) /* percentages are hard to read there */
			buf_addf(out, ", a ratio of %.3g", result->effect.ratio.estimate);
		break;
	case STATS_EQUIVALENT:
		buf_addf(out, "B and A are equivalent within %g %%: B is ", percent(r->setup->margin));
		duet_say_change(out, result->effect.ratio.estimate);
		break;
	case STATS_INCONCLUSIVE:
	default:
		say_undecided(out, r, e);
		return;
	}
	say_basis(out, r, e);
}

static double budget_for(const struct duet_result *r)
{
	double seconds = 1.3 * r->needed_seconds + 2, unit = seconds > 100 ? 60 : 5;

	return ceil(seconds / unit) * unit;
}

void duet_say_need(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	const struct duet_result *result = e->result;

	if (result->verdict != STATS_INCONCLUSIVE || !isfinite(result->effect.ratio.estimate))
		return;
	if (result->run_count < 2 && !r->setup->budget_ns)
		buf_adds(out, "one run is not enough evidence; use at least five");
	else if (result->run_count < 2)
		buf_addf(out, "one run is not enough evidence; --budget %.0fs allows five",
				ceil(7 * (result->run_seconds + 1)));
	else if (!result->needed_runs)
		buf_addf(out,
				"the change is as good as the threshold itself: no number of runs will tell; "
				"choose another --threshold");
	else if (result->needed_runs <= result->run_count)
		buf_adds(out,
				r->setup->budget_ns ? "it was close: run it again, or with a little more --budget"
						    : "it was close: a few runs more would decide it");
	else if (!r->setup->budget_ns)
		buf_addf(out, "about %zu runs would decide it", result->needed_runs);
	else
		buf_addf(out, "about %zu runs would decide it: --budget %.0fs", result->needed_runs,
				budget_for(result));
}

void duet_say_held_back(struct buf *out, const struct duet_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		n += r->entries[i].is_held_back;
	if (n)
		buf_addf(out,
				"%zu of %zu benchmarks %s beyond the threshold by %s own interval, but of as many "
				"benchmarks chance makes some: not counted (Holm)",
				n, r->count, n == 1 ? "is" : "are", n == 1 ? "its" : "their");
}

static void say_ns(struct buf *out, double ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 60e9, "min" }, { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" }, { 1, "ns" } };
	size_t i = 0;

	while (i < 4 && ns < units[i].ns)
		i++;
	buf_addf(out, "%.3g %s", ns / units[i].ns, units[i].unit);
}

void duet_say_value(struct buf *out, enum duet_metric metric, double value)
{
	if (!isfinite(value))
		buf_adds(out, "not known");
	else if (metric == DUET_RSS)
		buf_addf(out, "%.1f MiB", value / (1 << 20));
	else if (metric < DUET_RSS)
		say_ns(out, value);
	else
		buf_addf(out, "%.4g", value);
}

static bool is_cheapest(const struct duet_result *r)
{
	for (int d = 0; d < DUET_DESIGNS; d++)
		if (r->choices[d].is_tried && r->choices[d].cost < r->choices[r->schedule.design].cost)
			return false;
	return true;
}

void duet_say_pilot(struct buf *out, const struct duet_result *r)
{
	buf_adds(out, is_cheapest(r) ? "the best for its time:" : "no other was clearly better:");
	for (int d = 0; d < DUET_DESIGNS; d++) {
		const struct duet_choice *c = &r->choices[d];

		if (!c->is_tried)
			continue;
		buf_addf(out, " %s (", duet_design_names[d]);
		if (isfinite(c->variance))
			buf_addf(out, "spread %.2f %%", 100 * sqrt(c->variance));
		else
			buf_adds(out, "too few pairs"); /* of commands too short to overlap */
		buf_addf(out, ", %.2f s a run)", c->run_seconds);
	}
}

/* A growing list of sentences. */
struct doubts {
	const char **out;
	size_t count, most;
	struct arena *arena;
};

static void doubt(struct doubts *d, const char *text)
{
	if (text && d->count < d->most)
		d->out[d->count++] = text;
}

/* Is the CPU time, measured in addition, known that much more precisely? */
static bool is_cpu_narrower(const struct duet_result *r)
{
	double width = r->cpu.hi - r->cpu.lo;

	return isfinite(r->cpu.estimate) && isfinite(width) &&
			r->effect.ratio.hi - r->effect.ratio.lo > NARROWER * width;
}

static void doubt_busy(struct doubts *d, const struct duet_setup *setup, const struct duet_result *r,
		const struct duet_interference *interference)
{
	if (!(interference->pressure_share > BUSY_SHARE) || setup->pairing.metric != DUET_WALL)
		return;
	if (!setup->has_priority)
		doubt(d,
				arena_printf(d->arena,
						"others kept the processors busy in %.0f %% of the time, and what "
						"passes meanwhile is noise: --metric cpu does not count it; as root, "
						"without --priority none, the programs run ahead of others",
						100 * interference->pressure_share));
	else if (r->verdict == STATS_INCONCLUSIVE && is_cpu_narrower(r))
		doubt(d,
				arena_printf(d->arena,
						"CPU pressure: tasks waited for a CPU %.0f %% of the time, which is "
						"part of the wall time although the programs have priority: "
						"--metric cpu is more precise",
						100 * interference->pressure_share));
}

static void doubt_machine(struct doubts *d, const struct duet_setup *setup, const struct duet_result *r,
		const struct duet_interference *interference, size_t cpu_count)
{
	if (cpu_count < 2)
		doubt(d,
				"there is one CPU only: programs that run side by side take turns on it, and "
				"everything else disturbs them");
	if (interference && interference->steal_share > 0.02)
		doubt(d,
				arena_printf(d->arena, "the hypervisor gave %.0f %% of the processor time to others",
						100 * interference->steal_share));
	if (interference)
		doubt_busy(d, setup, r, interference);
}

static void doubt_measure(struct doubts *d, const struct duet_setup *setup, const struct duet_result *r)
{
	double correlation = r->effect.run_correlation;

	if (r->self.is_biased)
		doubt(d,
				arena_printf(d->arena,
						"A compared with itself differs by %+.2f %%: something "
						"favours a side on this machine",
						percent(r->self.ratio.estimate)));
	if (r->run_count >= 8 && correlation > 2 / sqrt((double)r->run_count))
		doubt(d,
				"neighbouring runs resemble each other, so the interval is narrower than it "
				"should be; longer runs (--pairs) help");
	if (r->pairs.unsettled)
		doubt(d, "a side never reached a steady state; the second half of its iterations was used");
	if (r->schedule.design == DUET_SYNC && !setup->has_own_iterations && setup->pairing.metric == DUET_WALL)
		doubt(d,
				"the slower command ends alone and is faster then, so the ratio may be too near "
				"to 1; --design async or rmit is not");
	if (r->pairs.missing)
		doubt(d,
				arena_printf(d->arena, "%zu pair%s left out: a side had no %s, or 0 of it",
						r->pairs.missing, r->pairs.missing == 1 ? " was" : "s were",
						duet_metric_name(&setup->pairing)));
}

size_t duet_warnings(const struct duet_setup *setup, const struct duet_result *r,
		const struct duet_interference *interference, size_t cpu_count, const char **out, size_t most,
		struct arena *arena)
{
	struct doubts d = { .out = out, .most = most, .arena = arena };

	if (r->stop == DUET_INTERRUPTED)
		doubt(&d, "it was interrupted: this is what there was until then");
	doubt_machine(&d, setup, r, interference, cpu_count);
	doubt_measure(&d, setup, r);
	return d.count;
}

/* verdict-text: a comparison in sentences. */
#include "duet/duet-report.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

const char *const duet_stop_names[] = {
	[DUET_DECIDED] = "decided",
	[DUET_BUDGET_OVER] = "budget",
	[DUET_RUNS_OVER] = "runs",
	[DUET_INTERRUPTED] = "interrupted",
	[DUET_FAILED] = "failed",
	NULL,
};

/* Share of the time with CPU pressure above which a warning is printed. */
#define BUSY_SHARE 0.3
#define NARROWER 2 /* how many times narrower the interval must be to be mentioned */

/* "B is 3 % slower", "B uses 3 % more memory", "B has 3 % fewer page faults" */
static const struct words {
	const char *verb, *more, *less;
} words[DUET_METRICS] = {
	[DUET_WALL] = { "is", "slower", "faster" },
	[DUET_CPU] = { "uses", "more CPU time", "less CPU time" },
	[DUET_USER] = { "uses", "more user CPU time", "less user CPU time" },
	[DUET_SYSTEM] = { "uses", "more system CPU time", "less system CPU time" },
	[DUET_RSS] = { "uses", "more memory", "less memory" },
	[DUET_FAULTS] = { "has", "more page faults", "fewer page faults" },
	[DUET_MAJOR_FAULTS] = { "has", "more major page faults", "fewer major page faults" },
	[DUET_WAITS] = { "has", "more voluntary context switches", "fewer voluntary context switches" },
	[DUET_PREEMPTIONS] = { "has", "more involuntary context switches", "fewer involuntary context switches" },
	[DUET_BLOCKS_READ] = { "reads", "more blocks", "fewer blocks" },
	[DUET_BLOCKS_WRITTEN] = { "writes", "more blocks", "fewer blocks" },
	[DUET_VALUE] = { "is", "worse", "better" },
};

/* If higher values are better, ratios are inverted: only better and worse fit all metrics. */
static const struct words *words_of(const struct duet_pairing *how)
{
	return &words[how->is_more_better ? DUET_VALUE : how->metric];
}

const char *duet_verdict_word(const struct duet_pairing *how, enum stats_verdict verdict)
{
	if (verdict == STATS_SLOWER || verdict == STATS_FASTER)
		return verdict == STATS_SLOWER ? words_of(how)->more : words_of(how)->less;
	return stats_verdict_name(verdict);
}

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

void duet_say_change(struct buf *out, const struct duet_pairing *how, double ratio)
{
	double change = percent(ratio);

	if (!isfinite(change))
		buf_adds(out, "not known");
	else
		buf_addf(out, "%.*f %% %s", digits_for(change), fabs(change),
				change < 0 ? words_of(how)->less : words_of(how)->more);
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

	if (!isfinite(ratio->hi) && !(ratio->lo > 0)) { /* one run, or too few for the level */
		buf_adds(out, "not known");
		return;
	}
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
	buf_addf(out, ", %zu %s%s", result->run_count, r->sessions ? "session" : "run",
			result->run_count == 1 ? "" : "s");
	if (result->pairs.count != result->run_count)
		buf_addf(out, " with %zu pairs", result->pairs.count);
	buf_addf(out, " in %.1f s%s)", result->seconds, r->setup->budget_ns && !r->sessions ? " of one session" : "");
}

/* "A takes 3.7 ms after A and 15.3 ms after B" */
static void say_carry_over(struct buf *out, const struct duet_setup *setup, const struct duet_result *r,
		enum duet_side side)
{
	buf_addf(out, "%c %s ", "AB"[side],
			setup -> pairing.metric < DUET_RSS ? "takes" : words[setup->pairing.metric].verb);
	duet_say_value(out, setup->pairing.metric, r->carry.medians[side][DUET_A]);
	buf_adds(out, " after A and ");
	duet_say_value(out, setup->pairing.metric, r->carry.medians[side][DUET_B]);
	buf_adds(out, " after B");
}

static void say_undecided(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	const struct duet_result *result = e->result;
	const struct words *how = words_of(&r->setup->pairing);
	int direction = result->effect.is_indicative ? 0 : stats_direction(&result->effect.log_ratio);

	if (!isfinite(result->effect.ratio.estimate)) {
		buf_adds(out, "nothing was measured");
		return;
	}
	if (result->carry.is_blocking) {
		buf_adds(out, "no verdict: the programs change each other's results (carry-over): ");
		say_carry_over(out, r->setup, result, DUET_A);
		buf_adds(out, "; ");
		say_carry_over(out, r->setup, result, DUET_B);
		return;
	}
	if (direction)
		buf_addf(out, "B %s %s than A, but whether by more than %g %% is not decided: ", how->verb,
				direction > 0 ? how->more : how->less, percent(r->setup->margin));
	else
		buf_addf(out, "not decided whether B differs from A by more than %g %%: ", percent(r->setup->margin));
	duet_say_change(out, &r->setup->pairing, result->effect.ratio.estimate);
	say_basis(out, r, e);
}

void duet_say_answer(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	const struct duet_result *result = e->result;
	const struct words *how = words_of(&r->setup->pairing);

	switch (result->verdict) {
	case STATS_SLOWER:
	case STATS_FASTER:
		buf_addf(out, "B %s ", how->verb);
		duet_say_change(out, &r->setup->pairing, result->effect.ratio.estimate);
		buf_adds(out, " than A");
		if (fabs(result->effect.log_ratio.estimate) > M_LN2) /* percentages are hard to read there */
			buf_addf(out, ", a ratio of %.3g", result->effect.ratio.estimate);
		break;
	case STATS_EQUIVALENT:
		buf_addf(out, "B and A are equivalent within %g %%: B %s ", percent(r->setup->margin), how->verb);
		duet_say_change(out, &r->setup->pairing, result->effect.ratio.estimate);
		break;
	case STATS_INCONCLUSIVE:
	default:
		say_undecided(out, r, e);
		return;
	}
	say_basis(out, r, e);
}

void duet_say_need(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	const struct duet_result *result = e->result;
	double seconds = 1.3 * result->needed_seconds + 2, unit = seconds > 100 ? 60 : 5; /* of a proposed budget */

	if (result->verdict != STATS_INCONCLUSIVE || !isfinite(result->effect.ratio.estimate))
		return;
	if (result->carry.is_blocking && r->setup->has_prepare)
		buf_adds(out, "the command of --prepare does not restore the state that an execution finds");
	else if (result->carry.is_blocking)
		buf_adds(out,
				"--prepare COMMAND restores the same state before each execution, outside the measured "
				"time; for the page cache: --prepare 'cat FILE'");
	else if (result->run_count < 2 && !r->setup->budget_ns)
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
				ceil(seconds / unit) * unit);
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

void duet_say_value(struct buf *out, enum duet_metric metric, double value)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 60e9, "min" }, { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" }, { 1, "ns" } };
	size_t i = 0;

	while (i < 4 && value < units[i].ns)
		i++;
	if (!isfinite(value))
		buf_adds(out, "not known");
	else if (metric == DUET_RSS)
		buf_addf(out, "%.1f MiB", value / (1 << 20));
	else if (metric < DUET_RSS)
		buf_addf(out, "%.3g %s", value / units[i].ns, units[i].unit);
	else
		buf_addf(out, "%.4g", value);
}

void duet_say_pilot(struct buf *out, const struct duet_result *r)
{
	bool is_cheapest = true;

	for (int d = 0; d < DUET_DESIGNS; d++)
		is_cheapest &= !r->choices[d].is_tried || !(r->choices[d].cost < r->choices[r->schedule.design].cost);
	buf_adds(out, is_cheapest ? "the best for its time:" : "no other was clearly better:");
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

static void doubt_busy(struct doubts *d, const struct duet_setup *setup, const struct duet_result *r,
		const struct duet_interference *interference)
{
	/* Is the CPU time, measured in addition, known that much more precisely? */
	double cpu_width = r->cpu.hi - r->cpu.lo;
	bool is_cpu_narrower = isfinite(r->cpu.estimate) && isfinite(cpu_width) &&
			r->effect.ratio.hi - r->effect.ratio.lo > NARROWER * cpu_width;

	if (!(interference->pressure_share > BUSY_SHARE) || setup->pairing.metric != DUET_WALL)
		return;
	if (!setup->has_priority)
		doubt(d,
				arena_printf(d->arena,
						"CPU pressure: tasks waited for a CPU %.0f %% of the time, which is "
						"noise in the wall time: --metric cpu excludes it; as root, without "
						"--priority none, the programs have a raised priority",
						100 * interference->pressure_share));
	else if (r->verdict == STATS_INCONCLUSIVE && is_cpu_narrower)
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
	if (r->carry.is_found && !r->carry.is_blocking) {
		CLEANUP(buf_release) struct buf carry = BUF_INIT;

		say_carry_over(&carry, setup, r, DUET_A);
		doubt(d,
				arena_printf(d->arena,
						"the programs change each other's results: %s; the verdict is the same "
						"for executions after their own kind",
						carry.data));
	}
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
		doubt(&d, "interrupted; results so far");
	doubt_machine(&d, setup, r, interference, cpu_count);
	doubt_measure(&d, setup, r);
	return d.count;
}

/* Tick distances in ascending order, from the largest power of ten that is certainly too close. */
static double step_of(int power, int i)
{
	static const double steps[] = { 1, 2, 5 };
	int tens = i / 3;

	return steps[i % 3] * pow(10, power + tens);
}

static double count_of(double lo, double hi, double step)
{
	return floor(hi / step) - ceil(lo / step) + 1;
}

struct duet_ticks duet_ticks_for(double lo, double hi, size_t most)
{
	struct duet_ticks t = { 0 };
	int power, i = 0;

	if (!(hi > lo) || !isfinite(hi - lo) || !most)
		return t;
	power = (int)floor(log10((hi - lo) / (double)most)) - 1;
	while (count_of(lo, hi, step_of(power, i)) > (double)most)
		i++;
	t.step = step_of(power, i);
	t.first = ceil(lo / t.step);
	t.count = (size_t)fmax(0, count_of(lo, hi, t.step));
	t.digits = power + i / 3 < 0 ? -(power + i / 3) : 0;
	return t;
}

double duet_tick(const struct duet_ticks *t, size_t i)
{
	return (t->first + (double)i) * t->step;
}

void duet_tick_label(const struct duet_ticks *t, size_t i, char *out, size_t size)
{
	double value = duet_tick(t, i);

	if (value == 0)
		snprintf(out, size, "0 %%");
	else
		snprintf(out, size, "%+.*f %%", t->digits, value);
}

/*
 * duet-text: a comparison as text: the result in one sentence, its evidence, and a plot of the pairs.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/duet-cli.h"
#include "duet/duet-report.h"
#include "duet/explain.h"
#include "stats/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLOT_LEFT = 11, PLOT_MAX = 72, PLOT_MIN = 20, TICK_COLUMNS = 9 };

static enum term_style style_of(enum stats_verdict v)
{
	static const enum term_style styles[] = {
		[STATS_INCONCLUSIVE] = TERM_YELLOW,
		[STATS_FASTER] = TERM_GREEN,
		[STATS_SLOWER] = TERM_RED,
		[STATS_EQUIVALENT] = TERM_CYAN,
	};

	return styles[v];
}

/* The range of log-ratios that is plotted: the middle 96 % of the pairs, the interval and 0. */
struct scale {
	double lo, hi;
	size_t width;
};

static struct scale scale_for(const struct duet_result *r, double *x, const struct term *term)
{
	size_t n = r->pairs.count;
	struct scale s = { .lo = 0, .hi = 0 };
	const struct stats_interval *i = &r->effect.log_ratio;

	memcpy(x, r->pairs.x, n * sizeof(*x));
	s.lo = fmin(0, stats_quantile(x, n, 0.02));
	s.hi = fmax(0, stats_quantile(x, n, 0.98));
	if (isfinite(i->lo) && isfinite(i->hi)) {
		s.lo = fmin(s.lo, fmax(i->lo, s.lo - 2 * (s.hi - s.lo)));
		s.hi = fmax(s.hi, fmin(i->hi, s.hi + 2 * (s.hi - s.lo)));
	}
	if (s.hi - s.lo < 1e-6) {
		s.lo -= 1e-3;
		s.hi += 1e-3;
	}
	s.width = term->width > PLOT_MAX + PLOT_LEFT         ? PLOT_MAX
			: term->width < PLOT_MIN + PLOT_LEFT ? PLOT_MIN
							     : term->width - PLOT_LEFT - 1;
	return s;
}

static size_t column_of(const struct scale *s, double x)
{
	double at = (x - s->lo) / (s->hi - s->lo) * (double)(s->width - 1);

	return !(at > 0) ? 0 : at > (double)(s->width - 1) ? s->width - 1 : (size_t)(at + 0.5);
}

static void add_line(struct buf *out, const char *title, const char *cells)
{
	size_t n = strlen(cells);

	while (n && cells[n - 1] == ' ')
		n--;
	buf_addf(out, "  %-*s%.*s\n", PLOT_LEFT - 2, title, (int)n, cells);
}

static void plot_pairs(struct buf *out, const struct duet_result *r, const struct scale *s)
{
	static const char levels[] = " .:-=+*#%@";
	size_t counts[PLOT_MAX] = { 0 }, most = 1;
	char cells[PLOT_MAX + 1] = "";

	for (size_t i = 0; i < r->pairs.count; i++) {
		size_t c = column_of(s, r->pairs.x[i]);

		counts[c]++;
		most = counts[c] > most ? counts[c] : most;
	}
	for (size_t c = 0; c < s->width; c++) {
		size_t level = (counts[c] * (sizeof(levels) - 2) + most - 1) / most;

		cells[c] = levels[level];
	}
	add_line(out, "pairs", cells);
}

static void plot_interval(struct buf *out, const struct duet_result *r, const struct scale *s)
{
	const struct stats_interval *i = &r->effect.log_ratio;
	char cells[PLOT_MAX + 1] = "";
	size_t lo, hi;

	memset(cells, ' ', s->width);
	if (!isfinite(i->estimate))
		return;
	lo = column_of(s, i->lo);
	hi = column_of(s, i->hi);
	memset(cells + lo, '-', hi - lo + 1);
	cells[lo] = i->lo < s->lo ? '<' : '[';
	cells[hi] = i->hi > s->hi ? '>' : ']';
	cells[column_of(s, i->estimate)] = 'o';
	add_line(out, "interval", cells);
}

/* Centers a label at its tick, shifted to fit, unless it would touch another. */
static void put_label(char *cells, const struct scale *s, const struct duet_ticks *ticks, size_t i)
{
	char label[32];
	size_t at = column_of(s, log1p(duet_tick(ticks, i) / 100)), n, from;

	duet_tick_label(ticks, i, label, sizeof(label));
	n = strlen(label);
	from = at < n / 2 ? 0 : at - n / 2;
	if (from + n > s->width)
		from = s->width - n;
	for (size_t c = from ? from - 1 : 0; c < s->width && c < from + n + 1; c++)
		if (cells[c] != ' ')
			return;
	memcpy(cells + from, label, n);
}

static void plot_axis(struct buf *out, const struct scale *s)
{
	struct duet_ticks ticks = duet_ticks_for(100 * expm1(s->lo), 100 * expm1(s->hi), 1 + s->width / TICK_COLUMNS);
	char cells[PLOT_MAX + 1] = "";

	memset(cells, ' ', s->width);
	for (size_t i = 0; i < ticks.count; i++)
		if (duet_tick(&ticks, i) == 0) /* the most important label */
			put_label(cells, s, &ticks, i);
	for (size_t i = 0; i < ticks.count; i++)
		put_label(cells, s, &ticks, i);
	add_line(out, "", cells);
}

static void write_plot(struct buf *out, const struct term *term, const struct duet_result *r)
{
	double *x = r->pairs.count > 1 ? calloc(r->pairs.count, sizeof(*x)) : NULL;
	struct scale s;

	if (!x)
		return;
	s = scale_for(r, x, term);
	free(x);
	buf_addc(out, '\n');
	plot_pairs(out, r, &s);
	plot_interval(out, r, &s);
	plot_axis(out, &s);
}

/* Writes the command on one line. */
static void write_command(struct buf *out, const char *command)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	for (; *command; command++)
		buf_adds(&line, *command == '\n' ? "⏎" : (const char[]){ *command, '\0' });
	buf_adds(out, "  ");
	term_safe(out, line.data);
}

static void write_sides(struct buf *out, const struct duet_report *report, const struct duet_entry *e)
{
	enum duet_metric metric = report->setup->pairing.metric;

	for (int side = 0; side < DUET_SIDES; side++) {
		CLEANUP(buf_release) struct buf value = BUF_INIT;

		duet_say_value(&value, metric,
				duet_metric_median(e->result->runs, e->result->run_count, (enum duet_side)side,
						metric));
		buf_addf(out, "  %c  %-10s", "AB"[side], value.data);
		if (e->commands[side])
			write_command(out, e->commands[side]);
		buf_addc(out, '\n');
	}
}

static void write_design(struct buf *out, const struct duet_report *report, const struct duet_result *r)
{
	buf_addf(out, "  median %s; %s (%s)", duet_metric_name(&report->setup->pairing),
			duet_design_titles[r->schedule.design], duet_design_names[r->schedule.design]);
	if (r->why_in_turn) {
		buf_addf(out, ", since %s", r->why_in_turn);
	} else if (r->is_design_piloted) {
		buf_adds(out, ", ");
		duet_say_pilot(out, r);
	} else if (report->setup->is_auto && r->schedule.is_settled) {
		buf_adds(out, ", chosen without a pilot because of the budget");
	}
	if (report->setup->has_priority)
		buf_adds(out, "; raised priority");
	buf_addc(out, '\n');
}

/* Writes the difference in CPU time, in addition to wall time. */
static void write_cpu(struct buf *out, const struct stats_interval *cpu)
{
	if (!isfinite(cpu->estimate))
		return;
	buf_adds(out, "  CPU time: ");
	duet_say_estimate(out, cpu);
	buf_adds(out, " (");
	duet_say_interval(out, cpu);
	buf_adds(out, ")\n");
}

static void write_around(struct buf *out, const struct duet_report *report, const struct duet_result *r)
{
	if (r->self.runs) {
		buf_adds(out, "  A against itself: ");
		duet_say_estimate(out, &r->self.ratio);
		buf_adds(out, " (");
		duet_say_interval(out, &r->self.ratio);
		buf_addf(out, ", %zu runs)\n", r->self.runs);
	}
	if (r->schedule.design == DUET_RMIT && r->schedule.is_settled && !report->setup->has_steps) {
		if (!r->carry.is_checked)
			buf_adds(out, "  carry-over: not checked, too few executions\n");
		else
			buf_addf(out, "  carry-over: %s (p %.2g)\n", r->carry.is_found ? "found" : "none found",
					r->carry.p);
	}
	if (isfinite(report->interference.steal_share) || isfinite(report->interference.pressure_share))
		buf_adds(out, "  meanwhile:");
	if (isfinite(report->interference.steal_share))
		buf_addf(out, " %.1f %% steal time", 100 * report->interference.steal_share);
	if (isfinite(report->interference.pressure_share))
		buf_addf(out, "%s tasks waited for a CPU %.0f %% of the time",
				isfinite(report->interference.steal_share) ? "," : "",
				100 * report->interference.pressure_share);
	if (isfinite(report->interference.steal_share) || isfinite(report->interference.pressure_share))
		buf_addc(out, '\n');
}

static void write_one(struct buf *out, const struct term *term, const struct duet_report *report,
		const struct duet_entry *e)
{
	CLEANUP(buf_release) struct buf answer = BUF_INIT;
	CLEANUP(buf_release) struct buf need = BUF_INIT;

	duet_say_answer(&answer, report, e);
	duet_say_need(&need, report, e);
	term_add(out, term, style_of(e->result->verdict), answer.data);
	buf_addc(out, '\n');
	if (need.len)
		buf_addf(out, "%s\n", need.data);
	write_plot(out, term, e->result);
	buf_addc(out, '\n');
	write_sides(out, report, e);
	write_design(out, report, e->result);
	write_cpu(out, &e->result->cpu);
	write_around(out, report, e->result);
}

static void write_many(struct buf *out, const struct term *term, const struct duet_report *report)
{
	static const struct term_column columns[] = { { "benchmark", TERM_LEFT }, { "verdict", TERM_LEFT },
		{ "change", TERM_RIGHT }, { "interval", TERM_RIGHT }, { "runs", TERM_RIGHT }, { "pairs", TERM_RIGHT },
		{ "p (Holm)", TERM_RIGHT } };
	CLEANUP(buf_release) struct buf held = BUF_INIT;
	struct term_table table;

	term_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < report->count; i++) {
		const struct duet_entry *e = &report->entries[i];
		const struct stats_interval *ratio = &e->result->effect.ratio;
		CLEANUP(buf_release) struct buf change = BUF_INIT;
		CLEANUP(buf_release) struct buf bounds = BUF_INIT;

		duet_say_estimate(&change, ratio);
		duet_say_bounds(&bounds, ratio);
		term_table_cell(&table, TERM_PLAIN, e->name ? e->name : "");
		term_table_cell(&table, style_of(e->result->verdict),
				duet_verdict_word(&report->setup->pairing, e->result->verdict));
		term_table_cell(&table, TERM_PLAIN, change.data);
		term_table_cell(&table, TERM_PLAIN, bounds.data);
		term_table_cellf(&table, "%zu", e->result->run_count);
		term_table_cellf(&table, "%zu", e->result->pairs.count);
		if (isfinite(e->p_adjusted))
			term_table_cellf(&table, "%.3g", e->p_adjusted);
		else
			term_table_cell(&table, TERM_PLAIN, "");
	}
	term_table_write(&table, out, term);
	term_table_release(&table);
	buf_adds(out, "geometric mean ");
	duet_say_estimate(out, &report->mean);
	buf_adds(out, " (");
	duet_say_interval(out, &report->mean);
	buf_addf(out, ", of %zu benchmark%s)\n", report->mean.n, report->mean.n == 1 ? "" : "s");
	duet_say_held_back(&held, report);
	if (held.len)
		buf_addf(out, "%s\n", held.data);
}

void duet_write_text(struct buf *out, const struct term *term, const struct duet_report *report)
{
	if (report->count == 1)
		write_one(out, term, report, &report->entries[0]);
	else
		write_many(out, term, report);
	for (size_t i = 0; i < report->warning_count; i++) {
		term_add(out, term, TERM_YELLOW, "  warning: ");
		buf_addf(out, "%s\n", report->warnings[i]);
	}
	if (report->explanation)
		duet_write_causes(out, term, report->explanation);
}

/* The causes of a difference, as a table. */

enum { CAUSES_SHOWN = 20 };

void duet_write_causes(struct buf *out, const struct term *term, const struct duet_explanation *e)
{
	static const struct term_column columns[] = { { "cause", TERM_LEFT }, { "B - A", TERM_RIGHT },
		{ "interval", TERM_RIGHT }, { "A", TERM_RIGHT }, { "B", TERM_RIGHT }, { "name", TERM_LEFT } };
	struct term_table table;

	term_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < e->count && i < CAUSES_SHOWN; i++) {
		const struct duet_cause *c = &e->causes[i];
		bool is_sure = c->delta.lo > 0 || c->delta.hi < 0;

		term_table_cell(&table, is_sure ? TERM_BOLD : TERM_DIM, c->kind);
		term_table_cellf(&table, "%+.3f ms", c->delta.estimate / 1e6);
		term_table_cellf(&table, "%+.3f to %+.3f", c->delta.lo / 1e6, c->delta.hi / 1e6);
		term_table_cellf(&table, "%.3f ms / %.0f", c->a_ns / 1e6, c->a_calls);
		term_table_cellf(&table, "%.3f ms / %.0f", c->b_ns / 1e6, c->b_calls);
		term_table_cell(&table, TERM_PLAIN, c->name);
	}
	buf_addf(out, "\ncauses of the difference, from %zu recordings of each side (time / count):\n", e->recordings);
	term_table_write(&table, out, term);
	term_table_release(&table);
}

/* Prints a report to stdout and files, and sets the exit code. */

static int exit_code_of(const struct duet_options *o, const struct duet_report *report)
{
	bool is_slower = false, is_open = false, has_carry_over = false;

	for (size_t i = 0; i < report->count; i++) {
		is_slower |= report->entries[i].result->verdict == STATS_SLOWER;
		is_open |= report->entries[i].result->verdict == STATS_INCONCLUSIVE;
		has_carry_over |= report->entries[i].result->carry.is_blocking;
	}
	if (duet_signals_caught())
		return 128 + duet_signals_caught();
	if (is_slower)
		return CLI_EXIT_VERDICT;
	return has_carry_over || (is_open && cli_list_has(&o->fail_on, "inconclusive")) ? DUET_EXIT_INCONCLUSIVE
											: CLI_EXIT_FINE;
}

static void rank_row(struct term_table *table, const struct duet_report *report, size_t rank,
		const struct duet_entry *e, enum duet_side side)
{
	CLEANUP(buf_release) struct buf value = BUF_INIT;
	CLEANUP(buf_release) struct buf bounds = BUF_INIT;
	enum duet_metric metric = report->setup->pairing.metric;
	const struct duet_result *r = e->result;

	duet_say_value(&value, metric, duet_metric_median(r->runs, r->run_count, side, metric));
	term_table_cellf(table, "%zu", rank);
	if (side == DUET_A) {
		term_table_cell(table, TERM_PLAIN, "1");
		term_table_cell(table, TERM_DIM, "reference");
	} else {
		term_table_cellf(table, "%.3g", r->effect.ratio.estimate);
		buf_addf(&bounds, "%.3g to %.3g", r->effect.ratio.lo, r->effect.ratio.hi);
		term_table_cell(table, TERM_PLAIN, r->carry.is_blocking ? "carry-over" : bounds.data);
	}
	term_table_cell(table, TERM_PLAIN, value.data);
	term_table_cell(table, TERM_PLAIN, e->commands[side]);
}

static void rank_text(struct buf *out, const struct duet_report *report)
{
	static const struct term_column columns[] = { { "rank", TERM_RIGHT }, { "relative", TERM_RIGHT },
		{ "interval", TERM_RIGHT }, { "median", TERM_RIGHT }, { "command", TERM_LEFT } };
	struct term term = term_of(stdout);
	struct term_table table;
	bool has_reference = false;

	term_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i <= report->count; i++) {
		bool is_next = i == report->count || report->entries[i].result->effect.ratio.estimate > 1;

		if (is_next && !has_reference)
			rank_row(&table, report, i + 1, &report->entries[0], DUET_A);
		has_reference |= is_next;
		if (i < report->count)
			rank_row(&table, report, i + 1 + has_reference, &report->entries[i], DUET_B);
	}
	term_table_write(&table, out, &term);
	term_table_release(&table);
	buf_addf(out, "%s relative to the first command; all intervals hold together with %g %%\n",
			duet_metric_name(&report->setup->pairing),
			100 * (1 - (1 - report->setup->level) * (double)report->count));
	for (size_t i = 0; i < report->count; i++)
		if (report->entries[i].result->carry.is_blocking) {
			CLEANUP(buf_release) struct buf answer = BUF_INIT;

			duet_say_answer(&answer, report, &report->entries[i]);
			buf_addf(out, "'%s' (B): %s\n", report->entries[i].name, answer.data);
		}
}

/* To a file, or to standard output if the path is empty. */
static int write_to(struct cli_context *ctx, const struct buf *text, const char *path)
{
	if (buf_error(text))
		return err_sys(ctx->err, ENOMEM, "cannot write the result");
	if (*path)
		return fs_write_output(path, text->data, text->len, ctx->err);
	if (fwrite(text->data, 1, text->len, stdout) != text->len || fflush(stdout))
		return err_sys(ctx->err, errno, "cannot write to standard output");
	return 0;
}

static void write_json(struct buf *text, const struct duet_options *o, const struct duet_report *report)
{
	struct json j;

	json_init(&j, text, false);
	duet_report_json(&j, report, o->has_samples);
	buf_addc(text, '\n');
}

static void write_csv(struct buf *text, const struct duet_options *o, const struct duet_report *report)
{
	duet_report_csv(text, report);
}

static void write_markdown(struct buf *text, const struct duet_options *o, const struct duet_report *report)
{
	duet_report_markdown(text, report);
}

static void write_html(struct buf *text, const struct duet_options *o, const struct duet_report *report)
{
	duet_report_html(text, report, false);
}

static void write_export_json(struct buf *text, const struct duet_options *o, const struct duet_report *report)
{
	duet_export(text, report, DUET_EXPORT_JSON);
}

static void write_export_csv(struct buf *text, const struct duet_options *o, const struct duet_report *report)
{
	duet_export(text, report, DUET_EXPORT_CSV);
}

static void write_export_markdown(struct buf *text, const struct duet_options *o, const struct duet_report *report)
{
	duet_export(text, report, DUET_EXPORT_MARKDOWN);
}

int duet_print(struct cli_context *ctx, const struct duet_report *report)
{
	const struct duet_options *o = ctx->options;
	const struct {
		const char *path; /* NULL: not wanted, "": standard output */
		void (*write)(struct buf *text, const struct duet_options *o, const struct duet_report *report);
	} formats[] = { { o->json, write_json }, { o->csv, write_csv }, { o->markdown, write_markdown },
		{ o->html, write_html }, { o->exports[DUET_EXPORT_JSON], write_export_json },
		{ o->exports[DUET_EXPORT_CSV], write_export_csv },
		{ o->exports[DUET_EXPORT_MARKDOWN], write_export_markdown } };
	struct term term = term_of(stdout);
	bool has_stdout = false;
	int rc = 0;

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats) && !rc; i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		if (!formats[i].path)
			continue;
		formats[i].write(&text, o, report);
		rc = write_to(ctx, &text, formats[i].path);
		has_stdout |= !*formats[i].path;
	}
	/* Text, unless another format has standard output. */
	if (!rc && !has_stdout) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		if (report->is_ranking)
			rank_text(&text, report);
		else
			duet_write_text(&text, &term, report);
		rc = write_to(ctx, &text, "");
	}
	return rc;
}

/* Fastest first; the common command of all comparisons, whose ratio is 1, has no entry. */
static int by_ratio(const void *pa, const void *pb)
{
	double a = ((const struct duet_entry *)pa)->result->effect.ratio.estimate,
	       b = ((const struct duet_entry *)pb)->result->effect.ratio.estimate;

	return isnan(a) - isnan(b) ? isnan(a) - isnan(b) : (a > b) - (a < b);
}

/* A ranking has no regression: the exit code is that of carry-over at most. */
int duet_print_ranking(struct cli_context *ctx, struct duet_report *report)
{
	const struct duet_options *o = ctx->options;
	int rc;

	qsort(report->entries, report->count, sizeof(*report->entries), by_ratio);
	report->mean = stats_interval_open(NAN, 0, report->setup->level, "none");
	rc = duet_print(ctx, report);
	for (size_t i = 0; i < report->count && !rc; i++)
		if (report->entries[i].result->carry.is_blocking)
			ctx->exit_code = DUET_EXIT_INCONCLUSIVE;
	if (!rc && !ctx->exit_code && cli_list_has(&o->fail_on, "inconclusive"))
		for (size_t i = 0; i < report->count; i++)
			if (report->entries[i].result->verdict == STATS_INCONCLUSIVE)
				ctx->exit_code = DUET_EXIT_INCONCLUSIVE;
	return rc;
}

int duet_print_verdict(struct cli_context *ctx, const struct duet_report *report)
{
	int rc = duet_print(ctx, report);

	if (!rc || duet_signals_caught())
		ctx->exit_code = exit_code_of(ctx->options, report);
	return rc;
}

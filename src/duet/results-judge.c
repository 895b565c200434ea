/* results-judge: converts rows to runs, per benchmark. */
#include "duet/results.h"

#include "base/cleanup.h"
#include "duet/suite.h"
#include "stats/overlap.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPETITIONS_MAX INT64_C(100000000) /* of one result file */

/* Sorts rows by suite, benchmark, type, source, run, side, iteration. */
static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_int(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_group(const struct duet_row *a, const struct duet_row *b)
{
	int order = compare_text(a->suite, b->suite);

	if (!order)
		order = compare_text(a->benchmark, b->benchmark);
	return order ? order : compare_text(a->type, b->type);
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct duet_row *a = *(const struct duet_row *const *)pa, *b = *(const struct duet_row *const *)pb;
	int order = compare_group(a, b);

	if (!order)
		order = compare_int((int64_t)a->source, (int64_t)b->source);
	if (!order)
		order = compare_int(a->runid, b->runid);
	if (!order)
		order = compare_int(a->pair, b->pair);
	return order ? order : compare_int(a->iteration, b->iteration);
}

static enum duet_design design_of(const struct duet_row *row)
{
	if (row->start_ns == DUET_UNKNOWN_NS || !row->type)
		return DUET_SEQ; /* without times no overlap is known */
	for (int d = 0; d < DUET_DESIGNS; d++)
		if (duet_design_types[d] && !strcmp(duet_design_types[d], row->type))
			return (enum duet_design)d;
	return DUET_SEQ;
}

static int add_row(struct duet_run *run, const struct duet_row *row)
{
	bool has_times = row->start_ns != DUET_UNKNOWN_NS && row->end_ns != DUET_UNKNOWN_NS;
	struct duet_iteration it = duet_iteration_at(has_times ? row->start_ns : 0, has_times ? row->end_ns : 0);

	if (isfinite(row->time_ns))
		it.metrics[DUET_WALL] = row->time_ns;
	it.metrics[DUET_CPU] = row->cpu_ns;
	it.metrics[DUET_VALUE] = row->value;
	if (has_times && (!run->start_ns || row->start_ns < run->start_ns))
		run->start_ns = row->start_ns;
	if (has_times && row->end_ns > run->end_ns)
		run->end_ns = row->end_ns;
	return duet_samples_add(&run->sides[row->pair == 'B' ? DUET_B : DUET_A], &it);
}

/* Returns the index after the last row of the run that starts here. */
static size_t run_end(const struct duet_row **rows, size_t n, size_t from)
{
	size_t end = from + 1;

	while (end < n && rows[end]->runid == rows[from]->runid && rows[end]->source == rows[from]->source)
		end++;
	return end;
}

/* Builds the run of these rows: the iterations of A come first among them. Release it in any case. */
static int make_run(const struct duet_row **rows, size_t n, struct duet_run *run)
{
	int rc = 0;

	*run = (struct duet_run){ .number = (size_t)rows[0]->runid,
		.design = design_of(rows[0]),
		.is_first_b = rows[0]->order && !strcmp(rows[0]->order, "BA") };
	for (size_t i = 0; i < n && !rc; i++)
		rc = add_row(run, rows[i]);
	return rc;
}

/* Builds the runs of a group of rows; runs without both sides are skipped. */
static int make_runs(const struct duet_row **rows, size_t n, struct duet_run **out, size_t *count)
{
	struct duet_run *runs = calloc(n, sizeof(*runs));
	size_t used = 0;
	int rc = runs ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc; i = run_end(rows, n, i)) {
		struct duet_run *run = &runs[used];

		rc = make_run(rows + i, run_end(rows, n, i) - i, run);
		if (!rc && run->sides[DUET_A].count && run->sides[DUET_B].count)
			used++;
		else
			duet_run_release(run);
	}
	*out = runs;
	*count = used;
	return rc;
}

bool duet_results_warm_up(const char *suite)
{
	const struct duet_format *format = suite ? duet_format_named(suite) : NULL;

	return !format || format->parse == duet_parse_renaissance || format->parse == duet_parse_csv ||
			format->parse == duet_parse_jmh;
}

static int judge_group(const struct duet_row **rows, size_t n, const struct duet_setup *setup, struct duet_entry *e,
		struct arena *arena, struct sonde_err *err)
{
	struct duet_setup own = *setup;
	struct duet_run *runs = NULL;
	struct sonde_err none;
	size_t count = 0;
	int rc = make_runs(rows, n, &runs, &count);

	own.pairing.has_warmup = duet_results_warm_up(rows[0]->suite);
	e->result = arena_alloc(arena, sizeof(*e->result));
	e->name = arena_printf(arena, "%s%s%s %s", rows[0]->suite ? rows[0]->suite : "", rows[0]->suite ? "/" : "",
			rows[0]->benchmark ? rows[0]->benchmark : "", rows[0]->type ? rows[0]->type : "");
	if (rc || !e->result || !e->name)
		return err_sys(err, ENOMEM, "cannot judge the results");
	/* A benchmark without a pair is an entry without a verdict; the others are still judged. */
	duet_judge(&own, runs, count, e->result, &none);
	return 0;
}

static size_t group_end(const struct duet_row **rows, size_t n, size_t from)
{
	size_t end = from + 1;

	while (end < n && !compare_group(rows[from], rows[end]))
		end++;
	return end;
}

static const struct duet_row **sorted_rows(const struct duet_results *r, struct arena *arena)
{
	const struct duet_row **rows = arena_alloc(arena, (r->table.count + 1) * sizeof(*rows));
	struct duet_row *own = arena_alloc(arena, (r->table.count + 1) * sizeof(*own));

	for (size_t i = 0; rows && own && i < r->table.count; i++) {
		own[i] = r->table.rows[i];
		/* The k-th repetition of A and that of B are a run. */
		if (own[i].is_repetition)
			own[i].runid = own[i].runid * REPETITIONS_MAX + own[i].iteration;
		rows[i] = &own[i];
	}
	if (!own)
		return NULL;
	if (rows)
		qsort(rows, r->table.count, sizeof(*rows), compare_rows);
	return rows;
}

int duet_results_judge(const struct duet_results *r, const struct duet_setup *setup, struct duet_entry **entries,
		size_t *count, struct arena *arena, struct sonde_err *err)
{
	size_t n = r->table.count, groups = 0;
	const struct duet_row **rows = sorted_rows(r, arena);
	int rc = 0;

	*count = 0;
	for (size_t i = 0; rows && i < n; i = group_end(rows, n, i))
		groups++;
	*entries = arena_alloc(arena, (groups + 1) * sizeof(**entries));
	if (!rows || !*entries)
		return err_sys(err, ENOMEM, "cannot judge the results");
	for (size_t i = 0; i < n && !rc; i = group_end(rows, n, i)) {
		rc = judge_group(rows + i, group_end(rows, n, i) - i, setup, &(*entries)[*count], arena, err);
		if (!rc)
			(*count)++;
	}
	return rc;
}

static struct stats_span *spans_of(const struct duet_samples *s, struct arena *arena)
{
	struct stats_span *spans = arena_alloc(arena, (s->count + 1) * sizeof(*spans));

	for (size_t i = 0; spans && i < s->count; i++)
		spans[i] = (struct stats_span){ s->items[i].start_ns, s->items[i].end_ns };
	return spans;
}

static void add_overlap(struct buf *out, const struct duet_row *a, const struct duet_row *b,
		const struct stats_overlap *pair)
{
	duet_csv_cell(out, a->suite);
	buf_addc(out, ',');
	duet_csv_cell(out, a->benchmark);
	buf_addc(out, ',');
	duet_csv_cell(out, a->type);
	buf_addf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%.6g,%.9g\n", a->runid, a->iteration,
			b->iteration, pair->overlap_ns, pair->rate, pair->log_ratio);
}

/* rows: of one run. */
static int overlaps_of_run(const struct duet_row **rows, size_t n, double min_rate, struct buf *out,
		struct sonde_err *err)
{
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;
	struct stats_span *a = NULL, *b = NULL;
	struct stats_overlap *pairs;
	struct duet_run run;
	size_t na, count = 0;
	int rc = make_run(rows, n, &run);

	na = run.sides[DUET_A].count;
	if (!rc) {
		a = spans_of(&run.sides[DUET_A], &arena);
		b = spans_of(&run.sides[DUET_B], &arena);
	}
	duet_run_release(&run);
	if (!a || !b)
		return err_sys(err, ENOMEM, "cannot pair the iterations");
	rc = stats_overlaps(a, na, b, n - na, min_rate, &arena, &pairs, &count, err);
	for (size_t i = 0; i < count && !rc; i++)
		add_overlap(out, rows[pairs[i].a], rows[na + pairs[i].b], &pairs[i]);
	return rc;
}

int duet_results_overlaps(const struct duet_results *r, double min_rate, struct buf *out, struct sonde_err *err)
{
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;
	const struct duet_row **rows = sorted_rows(r, &arena);
	size_t n = r->table.count;
	int rc = rows ? 0 : err_sys(err, ENOMEM, "cannot pair the iterations");

	buf_adds(out, "suite,benchmark,type,runid,iteration_A,iteration_B,overlap_ns,overlap_rate,log_ratio\n");
	for (size_t i = 0; !rc && i < n;) {
		size_t end = i + run_end(rows + i, group_end(rows, n, i) - i, 0);

		rc = overlaps_of_run(rows + i, end - i, min_rate, out, err);
		i = end;
	}
	return rc;
}

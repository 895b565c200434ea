/*
 * results-judge: rows become runs, benchmark by benchmark.
 */
#include "duet/results.h"

#include "base/cleanup.h"
#include "duet/suite.h"
#include "stats/overlap.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows in the order of suite, benchmark, type, run, side, iteration. */
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
		order = compare_int(a->runid, b->runid);
	if (!order)
		order = compare_int(a->pair, b->pair);
	return order ? order : compare_int(a->iteration, b->iteration);
}

static enum duet_design design_of(const struct duet_row *row)
{
	if (row->start_ns == DUET_UNKNOWN_NS || !row->type)
		return DUET_SEQ; /* without times there is nothing that overlaps */
	for (int d = 0; d < DUET_DESIGNS; d++)
		if (duet_design_types[d] && !strcmp(duet_design_types[d], row->type))
			return (enum duet_design)d;
	return DUET_SEQ;
}

static int add_row(struct duet_run *run, const struct duet_row *row)
{
	bool has_times = row->start_ns != DUET_UNKNOWN_NS && row->end_ns != DUET_UNKNOWN_NS;
	struct duet_iteration it = duet_iteration_at(has_times ? row->start_ns : 0, has_times ? row->end_ns : 0);

	if (row->time_ns != DUET_UNKNOWN_NS)
		it.metrics[DUET_WALL] = (double)row->time_ns;
	it.metrics[DUET_CPU] = row->cpu_ns;
	it.metrics[DUET_VALUE] = row->value;
	if (has_times && (!run->start_ns || row->start_ns < run->start_ns))
		run->start_ns = row->start_ns;
	if (has_times && row->end_ns > run->end_ns)
		run->end_ns = row->end_ns;
	return duet_samples_add(&run->sides[row->pair == 'B' ? DUET_B : DUET_A], &it);
}

/* The runs of a group of rows; those that lack a side are left out. */
static int make_runs(const struct duet_row **rows, size_t n, struct duet_run **out, size_t *count)
{
	struct duet_run *runs = calloc(n, sizeof(*runs));
	size_t used = 0;
	int rc = runs ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc;) {
		struct duet_run run = { .number = (size_t)rows[i]->runid,
			.design = design_of(rows[i]),
			.is_first_b = rows[i]->order && !strcmp(rows[i]->order, "BA") };
		int64_t runid = rows[i]->runid;

		for (; i < n && !rc && rows[i]->runid == runid; i++)
			rc = add_row(&run, rows[i]);
		if (!rc && run.sides[DUET_A].count && run.sides[DUET_B].count)
			runs[used++] = run;
		else
			duet_run_release(&run);
	}
	*out = runs;
	*count = used;
	return rc;
}

static bool warms_up(const char *suite)
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

	own.pairing.has_warmup = warms_up(rows[0]->suite);
	e->result = arena_alloc(arena, sizeof(*e->result));
	e->name = arena_printf(arena, "%s%s%s %s", rows[0]->suite ? rows[0]->suite : "", rows[0]->suite ? "/" : "",
			rows[0]->benchmark ? rows[0]->benchmark : "", rows[0]->type ? rows[0]->type : "");
	if (rc || !e->result || !e->name)
		return err_sys(err, ENOMEM, "cannot judge the results");
	/* A benchmark without a pair is an entry without an answer, not the end of all the others. */
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

	for (size_t i = 0; rows && i < r->table.count; i++)
		rows[i] = &r->table.rows[i];
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

static int overlaps_of_run(const struct duet_row *row, const struct duet_run *run, double min_rate, struct arena *arena,
		struct buf *out, struct sonde_err *err)
{
	struct stats_span *spans[DUET_SIDES];
	struct stats_overlap *pairs;
	size_t count;
	int rc;

	for (int side = 0; side < DUET_SIDES; side++) {
		spans[side] = arena_alloc(arena, (run->sides[side].count + 1) * sizeof(*spans[side]));
		if (!spans[side])
			return err_sys(err, ENOMEM, "cannot pair the iterations");
		for (size_t i = 0; i < run->sides[side].count; i++)
			spans[side][i] = (struct stats_span){ run->sides[side].items[i].start_ns,
				run->sides[side].items[i].end_ns };
	}
	rc = stats_overlaps(spans[DUET_A], run->sides[DUET_A].count, spans[DUET_B], run->sides[DUET_B].count, min_rate,
			arena, &pairs, &count, err);
	for (size_t i = 0; i < count && !rc; i++)
		buf_addf(out, "%s,%s,%s,%" PRId64 ",%zu,%zu,%" PRIu64 ",%.6g,%.9g\n", row->suite ? row->suite : "",
				row->benchmark ? row->benchmark : "", row->type ? row->type : "", row->runid,
				pairs[i].a, pairs[i].b, pairs[i].overlap_ns, pairs[i].rate, pairs[i].log_ratio);
	return rc;
}

int duet_results_overlaps(const struct duet_results *r, double min_rate, struct buf *out, struct sonde_err *err)
{
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;
	const struct duet_row **rows = sorted_rows(r, &arena);
	size_t n = r->table.count;
	int rc = rows ? 0 : err_sys(err, ENOMEM, "cannot pair the iterations");

	buf_adds(out, "suite,benchmark,type,runid,iteration_A,iteration_B,overlap_ns,overlap_rate,log_ratio\n");
	for (size_t i = 0; !rc && i < n; i = group_end(rows, n, i)) {
		size_t end = group_end(rows, n, i), count = 0;
		struct duet_run *runs = NULL;

		rc = make_runs(rows + i, end - i, &runs, &count);
		for (size_t k = 0; k < count; k++) {
			struct duet_row row = *rows[i];

			row.runid = (int64_t)runs[k].number;
			if (!rc)
				rc = overlaps_of_run(&row, &runs[k], min_rate, &arena, out, err);
			duet_run_release(&runs[k]);
		}
		free(runs);
	}
	return rc;
}

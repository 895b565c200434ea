#include "model/rows.h"

#define POOL_ROWS ((size_t)1 << 18) /* per table */

/* Spans first: a call that starts with a span is inside it. */
static const struct {
	enum store_table_id id;
	int ts_ns, dur_ns; /* columns; -1 if missing */
} tables[TIMELINE_TABLES] = {
	{ STORE_TABLE_SPAN, STORE_SPAN_ts_ns, STORE_SPAN_dur_ns },
	{ STORE_TABLE_IO, STORE_IO_ts_ns, STORE_IO_dur_ns },
	{ STORE_TABLE_MARK, STORE_MARK_ts_ns, -1 },
	{ STORE_TABLE_COUNTER, STORE_COUNTER_ts_ns, -1 },
	{ STORE_TABLE_STEP, STORE_STEP_ts_ns, -1 },
};

static int advance(struct timeline *t, int i, struct sonde_err *err)
{
	struct timeline_stream *s = &t->streams[i];
	const void *row;
	int rc = model_rows_next(s->rows, &row, err);

	if (rc < 0)
		return rc;
	s->row = row;
	if (!row)
		return 0;
	s->ts_ns = s->row[tables[i].ts_ns];
	s->dur_ns = tables[i].dur_ns < 0 ? 0 : s->row[tables[i].dur_ns];
	return 0;
}

int timeline_open(struct timeline *t, struct model_run *run, const struct model_rows_opts *range, struct sonde_err *err)
{
	struct model_rows_opts opts = { .has_range = range->has_range,
		.from_ns = range->from_ns,
		.to_ns = range->to_ns,
		.is_longest_first = true,
		.pool_rows = POOL_ROWS };
	int rc = 0;

	*t = (struct timeline){ .last = -1 };
	for (int i = 0; rc == 0 && i < TIMELINE_TABLES; i++) {
		rc = model_rows_open(&t->streams[i].rows, model_table(run, tables[i].id), &opts, err);
		if (rc == 0)
			rc = advance(t, i, err);
	}
	if (rc < 0)
		timeline_release(t);
	return rc;
}

void timeline_release(struct timeline *t)
{
	for (int i = 0; i < TIMELINE_TABLES; i++) {
		model_rows_free(t->streams[i].rows);
		t->streams[i].rows = NULL;
	}
}

static bool is_before(const struct timeline_stream *a, const struct timeline_stream *b)
{
	return a->ts_ns != b->ts_ns ? a->ts_ns < b->ts_ns : a->dur_ns > b->dur_ns;
}

int timeline_next(struct timeline *t, enum store_table_id *table, const int64_t **row, struct sonde_err *err)
{
	int rc = t->last < 0 ? 0 : advance(t, t->last, err), first = -1;

	if (rc < 0)
		return rc;
	for (int i = 0; i < TIMELINE_TABLES; i++)
		if (t->streams[i].row && (first < 0 || is_before(&t->streams[i], &t->streams[first])))
			first = i;
	t->last = first;
	*row = first < 0 ? NULL : t->streams[first].row;
	*table = tables[first < 0 ? 0 : first].id;
	return 0;
}

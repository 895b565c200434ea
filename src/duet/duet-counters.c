#include "duet/duet-counters.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "model/dimensions.h"
#include "model/rows.h"
#include "store/schema.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	int64_t ts_ns;
	double value; /* the increase, for a total */
	double sum;   /* of all samples up to this one */
};

struct readings {
	struct reading *items;
	size_t count, capacity;
	bool is_total;
};

static const struct model_rows_opts every_row;

static void release(struct readings *r)
{
	free(r->items);
}

static int add(struct readings *r, int64_t ts_ns, double value)
{
	if (r->count == r->capacity) {
		size_t capacity = r->capacity ? 2 * r->capacity : 256;
		struct reading *items = reallocarray(r->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		r->items = items;
		r->capacity = capacity;
	}
	r->items[r->count++] = (struct reading){ .ts_ns = ts_ns, .value = value };
	return 0;
}

/* Reads the kind from the table series; counters emitted by programs are levels. */
static int find_kind(struct model_run *run, const char *name, struct readings *r, struct sonde_err *err)
{
	struct model_rows *rows = NULL;
	const struct store_series *row;
	int rc = model_rows_open(&rows, model_table(run, STORE_TABLE_SERIES), &every_row, err);

	while (!rc && !(rc = model_rows_next(rows, (const void **)&row, err)) && row) {
		const char *own = model_cname(run, row->name);

		if (own && !strcmp(own, name))
			r->is_total = row->is_total == 1;
	}
	model_rows_free(rows);
	return rc;
}

/* Adds the increase of a total, of one process or the machine. */
static int add_rise(struct readings *r, struct map *last, const struct store_counter *row)
{
	bool is_new;
	uint64_t *kept = map_put_int(last, (uint64_t)row->pid, &is_new);
	double before = 0;

	if (!kept)
		return -ENOMEM;
	if (!is_new)
		memcpy(&before, kept, sizeof(before));
	memcpy(kept, &row->value, sizeof(*kept));
	return add(r, row->ts_ns, row->value - before);
}

static int read_all(struct model_run *run, const char *name, struct readings *r, struct sonde_err *err)
{
	CLEANUP(map_release) struct map last = MAP_INIT;
	struct model_rows *rows = NULL;
	const struct store_counter *row;
	int rc = model_rows_open(&rows, model_table(run, STORE_TABLE_COUNTER), &every_row, err);

	while (!rc && !(rc = model_rows_next(rows, (const void **)&row, err)) && row) {
		const char *own = model_cname(run, row->name);

		if (!own || strcmp(own, name) != 0 || !isfinite(row->value))
			continue;
		if (r->is_total ? add_rise(r, &last, row) : add(r, row->ts_ns, row->value))
			rc = err_sys(err, ENOMEM, "cannot read the counter '%s'", name);
	}
	model_rows_free(rows);
	return rc;
}

static int by_time(const void *pa, const void *pb)
{
	const struct reading *a = pa, *b = pb;

	return (a->ts_ns > b->ts_ns) - (a->ts_ns < b->ts_ns);
}

static void put_in_order(struct readings *r)
{
	double sum = 0;

	qsort(r->items, r->count, sizeof(*r->items), by_time);
	for (size_t i = 0; i < r->count; i++)
		r->items[i].sum = sum += r->items[i].value;
}

/* Returns the number of samples before a timestamp. */
static size_t before(const struct readings *r, int64_t ts_ns)
{
	size_t lo = 0, hi = r->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->items[mid].ts_ns < ts_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static double sum_of(const struct readings *r, size_t from, size_t to)
{
	return (to ? r->items[to - 1].sum : 0) - (from ? r->items[from - 1].sum : 0);
}

static double value_of(const struct readings *r, const struct duet_iteration *it)
{
	size_t from = before(r, it->start_ns), to = before(r, it->end_ns + 1);

	if (r->is_total)
		return sum_of(r, from, to);
	if (to > from)
		return sum_of(r, from, to) / (double)(to - from);
	return from ? r->items[from - 1].value : NAN;
}

int duet_counter_read(struct model_run *run, const char *name, struct duet_samples *s, size_t first,
		struct sonde_err *err)
{
	CLEANUP(release) struct readings r = { 0 };
	int rc = find_kind(run, name, &r, err);

	if (!rc)
		rc = read_all(run, name, &r, err);
	if (!rc && !r.count) {
		rc = err_set(err, ENODATA, "the run has no counter '%s'", name);
		err_hint(err, "'sonde query \"select distinct name from counter\"' lists those of a recorded run");
	}
	if (rc)
		return rc;
	put_in_order(&r);
	for (size_t i = first; i < s->count; i++)
		s->items[i].metrics[DUET_VALUE] = value_of(&r, &s->items[i]);
	return 0;
}

#include "analyze/diff.h"
#include "base/vec.h"

#include "stats/interval.h"
#include "stats/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sections about how the run was recorded, not what it did; which waits have a stack is chance, too. */
static const char *const left_out[] = { "probes", "losses", "diagnosis", "layers", "features", "offcpu" };

void diff_init(struct diff *d, size_t count_a, size_t count_b)
{
	memset(d, 0, sizeof(*d));
	d->count_a = count_a;
	d->count_b = count_b;
	arena_init(&d->arena);
}

void diff_release(struct diff *d)
{
	free(d->items);
	map_release(&d->by_path);
	arena_release(&d->arena);
}

static bool is_quantity(enum analyze_unit unit)
{
	return unit != ANALYZE_ID && unit != ANALYZE_TEXT && unit != ANALYZE_RATIO;
}

static bool is_time(enum analyze_unit unit)
{
	return unit == ANALYZE_NS || unit == ANALYZE_SUM_NS;
}

static double number(const struct analyze_value *v, enum analyze_unit unit)
{
	if (v->is_null)
		return NAN;
	return unit == ANALYZE_REAL || unit == ANALYZE_RATIO ? v->real : (double)v->integer;
}

static double *absent(struct diff *d, size_t n)
{
	double *values = arena_alloc(&d->arena, (n ? n : 1) * sizeof(*values));
	for (size_t i = 0; values && i < n; i++)
		values[i] = NAN;
	return values;
}

/* Returns the item of a path, created if missing; NULL: out of memory. */
static struct diff_item *item_of(struct diff *d, const char *list, const char *name,
		const struct analyze_column *column)
{
	const char *path = arena_printf(&d->arena, "%s\n%s\n%s", list, name, column->key);
	bool is_new;
	uint64_t *at = path ? map_put(&d->by_path, path, strlen(path), &is_new) : NULL;
	if (!at || !is_new)
		return at ? &d->items[*at] : NULL;
	*at = d->count;
	if (!VEC_GROW(d->items, d->cap, d->count + 1, VEC_MAX))
		return NULL;
	struct diff_item *item = &d->items[d->count];
	*item = (struct diff_item){ .list = arena_strdup(&d->arena, list),
		.name = arena_strdup(&d->arena, name),
		.key = arena_strdup(&d->arena, column->key),
		.title = column->title ? arena_strdup(&d->arena, column->title) : NULL,
		.unit = column->unit,
		.a = absent(d, d->count_a),
		.b = absent(d, d->count_b),
		.order = d->count };
	if (!item->list || !item->name || !item->key || !item->a || !item->b)
		return NULL;
	d->count++;
	return item;
}

struct taking {
	struct diff *d;
	bool is_b;
	size_t run;
};

static int add_value(const struct taking *t, const char *list, const char *name, const struct analyze_column *column,
		const struct analyze_value *value)
{
	if (!is_quantity(column->unit))
		return 0;
	struct diff_item *item = item_of(t->d, list, name, column);
	if (!item)
		return -ENOMEM;
	double *into = (t->is_b ? item->b : item->a) + t->run;
	double v = number(value, column->unit);
	*into = isnan(*into) ? v : isnan(v) ? *into : *into + v; /* rows with the same name are summed */
	return 0;
}

/* Tables in which the first text column does not name the rows, or the first number is not the measure. */
struct list {
	const char *section, *table;
	const char *name, *name2; /* NULL: the first text column; no second name */
	const char *measure;      /* NULL: the first time, else the first count */
};

static const struct list *list_of(const struct analyze_section *s, const struct analyze_table *table)
{
	static const struct list lists[] = {
		{ "counters", "by_name", NULL, NULL, "mean" },
		{ "counters", "of_probes", NULL, NULL, "max" }, /* the total of monotonic counters */
		{ "io", "by_file", "path", NULL, NULL },
		{ "network", "matrix", "source", "destination", "bytes" },
		{ "states", "by_thread", NULL, NULL, "running_ns" },
	};
	static const struct list others = { .section = NULL };

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (!strcmp(lists[i].section, s->key) && !strcmp(lists[i].table, table->name.key))
			return &lists[i];
	return &others;
}

/* Returns the column with that key, or the first text column if key is NULL; column_count if none. */
static size_t naming(const struct analyze_table *table, const char *key)
{
	size_t at = 0;

	while (at < table->column_count &&
			(key ? strcmp(table->columns[at].key, key) != 0 : table->columns[at].unit != ANALYZE_TEXT))
		at++;
	return at;
}

/* Measures a row by its first time, else its first count: the others follow from it or are details. */
static size_t measure(const struct analyze_table *table, const char *key)
{
	if (key)
		return naming(table, key);
	for (size_t i = 0; i < table->column_count; i++)
		if (is_time(table->columns[i].unit))
			return i;
	for (size_t i = 0; i < table->column_count; i++)
		if (is_quantity(table->columns[i].unit))
			return i;
	return table->column_count;
}

static const char *name_of(struct diff *d, const struct analyze_value *v)
{
	return v->is_null ? "(unknown)" : arena_copy(&d->arena, v->text.data, v->text.bytes);
}

static int add_table(const struct taking *t, const struct analyze_section *s, const struct analyze_table *table)
{
	const struct list *known = list_of(s, table);
	size_t name_at = naming(table, known->name), at = measure(table, known->measure);
	size_t name2_at = known->name2 ? naming(table, known->name2) : table->column_count;
	int rc = 0;
	if ((table->flags & ANALYZE_DETAIL && !known->section) || name_at == table->column_count ||
			at == table->column_count)
		return 0;
	const char *list = arena_printf(&t->d->arena, "%s.%s", s->key, table->name.key);
	for (size_t row = 0; list && row < table->rows && !rc; row++) {
		const struct analyze_value *values = table->values + row * table->column_count;
		const char *name = name_of(t->d, &values[name_at]);

		if (name && name2_at < table->column_count) {
			const char *name2 = name_of(t->d, &values[name2_at]);

			name = name2 ? arena_printf(&t->d->arena, "%s to %s", name, name2) : NULL;
		}
		rc = name ? add_value(t, list, name, &table->columns[at], &values[at]) : -ENOMEM;
	}
	return list ? rc : -ENOMEM;
}

static bool is_left_out(const char *key)
{
	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		if (!strcmp(left_out[i], key))
			return true;
	return false;
}

int diff_add(struct diff *d, bool is_b, size_t i, const struct analyze_result *result, struct sonde_err *err)
{
	const struct taking t = { .d = d, .is_b = is_b, .run = i };
	int rc = 0;
	for (const struct analyze_section *s = result->sections; s && !rc; s = s->next) {
		if (s->absent || is_left_out(s->key))
			continue;
		for (const struct analyze_field *f = s->fields; f && !rc; f = f->next)
			if (!(s->is_top && !strcmp(f->column.key, "start_ns")))
				rc = add_value(&t, s->is_top ? "" : s->key, "", &f->column, &f->value);
		for (const struct analyze_table *table = s->tables; table && !rc; table = table->next)
			rc = add_table(&t, s, table);
	}
	return rc ? err_sys(err, ENOMEM, "cannot compare the runs") : 0;
}

static double mean(const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : NAN;
}

/* A row missing from a table that was recorded is 0 in that run; the table was recorded if any of its rows exists. */
static int fill_absent(struct diff *d, bool is_b, size_t run)
{
	struct map lists = { 0 };
	int rc = 0;
	for (size_t k = 0; k < d->count && !rc; k++) {
		const struct diff_item *item = &d->items[k];
		if (*item->name && !isnan((is_b ? item->b : item->a)[run]))
			rc = map_put(&lists, item->list, strlen(item->list), NULL) ? 0 : -ENOMEM;
	}
	for (size_t k = 0; k < d->count && !rc; k++) {
		struct diff_item *item = &d->items[k];
		double *v = (is_b ? item->b : item->a) + run;
		if (*item->name && isnan(*v) && map_get(&lists, item->list, strlen(item->list)))
			*v = 0;
	}
	map_release(&lists);
	return rc;
}

static int fill_all(struct diff *d)
{
	int rc = 0;
	for (size_t run = 0; run < d->count_a && !rc; run++)
		rc = fill_absent(d, false, run);
	for (size_t run = 0; run < d->count_b && !rc; run++)
		rc = fill_absent(d, true, run);
	return rc;
}

static struct stats_interval welch(const double *a, size_t na, const double *b, size_t nb)
{
	struct stats_moments x = stats_moments_of(a, na), y = stats_moments_of(b, nb);
	return stats_welch_interval(&x, &y, DIFF_LEVEL);
}

static void judge(struct diff *d, struct diff_item *item)
{
	item->mean_a = mean(item->a, d->count_a);
	item->mean_b = mean(item->b, d->count_b);
	item->change = item->mean_b - item->mean_a;
	item->lo = item->hi = NAN;
	if (d->count_a < 2 || d->count_b < 2 || isnan(item->change))
		return;
	struct stats_interval i = welch(item->a, d->count_a, item->b, d->count_b);
	item->lo = i.lo;
	item->hi = i.hi;
	item->is_sure = i.lo > 0 || i.hi < 0;
}

static int by_change(const void *a, const void *b)
{
	const struct diff_item *x = a, *y = b;
	bool has_x = !isnan(x->change), has_y = !isnan(y->change);
	if (has_x != has_y)
		return has_y - has_x;
	if (x->is_sure != y->is_sure)
		return y->is_sure - x->is_sure;
	if (is_time(x->unit) != is_time(y->unit))
		return is_time(y->unit) - is_time(x->unit);
	if (has_x && fabs(x->change) != fabs(y->change))
		return fabs(x->change) < fabs(y->change) ? 1 : -1;
	return x->order < y->order ? -1 : 1;
}

static const struct diff_item *wall_of(const struct diff *d)
{
	for (size_t i = 0; i < d->count; i++)
		if (!*d->items[i].list && !strcmp(d->items[i].key, "wall_ns"))
			return &d->items[i];
	return NULL;
}

/* Compares the wall time, as a ratio. */
static int judge_wall(struct diff *d, double threshold)
{
	const struct diff_item *wall = wall_of(d);
	double *logs = arena_alloc(&d->arena, (d->count_a + d->count_b) * sizeof(*logs));
	d->ratio = d->lo = d->hi = NAN;
	if (!logs)
		return -ENOMEM;
	if (!wall || !(wall->mean_a > 0) || !(wall->mean_b > 0))
		return 0;
	for (size_t i = 0; i < d->count_a + d->count_b; i++)
		logs[i] = log(i < d->count_a ? wall->a[i] : wall->b[i - d->count_a]);
	d->ratio = exp(mean(logs + d->count_a, d->count_b) - mean(logs, d->count_a));
	if (d->count_a > 1 && d->count_b > 1) {
		struct stats_interval i = welch(logs, d->count_a, logs + d->count_a, d->count_b);
		d->lo = exp(i.lo);
		d->hi = exp(i.hi);
	}
	double low = isnan(d->lo) ? d->ratio : d->lo, high = isnan(d->hi) ? d->ratio : d->hi;
	if (low > 1 + threshold)
		d->verdict = DIFF_SLOWER;
	else if (high < 1 / (1 + threshold))
		d->verdict = DIFF_FASTER;
	else if (high <= 1 + threshold && low >= 1 / (1 + threshold))
		d->verdict = DIFF_SAME;
	return 0;
}

int diff_finish(struct diff *d, double threshold, struct sonde_err *err)
{
	if (fill_all(d))
		return err_sys(err, ENOMEM, "cannot compare the runs");
	for (size_t i = 0; i < d->count; i++)
		judge(d, &d->items[i]);
	if (d->count)
		qsort(d->items, d->count, sizeof(*d->items), by_change);
	map_release(&d->by_path); /* sorting has invalidated its indexes */
	return judge_wall(d, threshold) ? err_sys(err, ENOMEM, "cannot compare the runs") : 0;
}

const char *diff_verdict_word(enum diff_verdict v)
{
	static const char *const words[] = { [DIFF_UNKNOWN] = "inconclusive",
		[DIFF_SAME] = "equivalent",
		[DIFF_SLOWER] = "slower",
		[DIFF_FASTER] = "faster" };
	return words[v];
}

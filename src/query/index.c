/*
 * Index of a small table by the value of a column, so that joins on ids do not scan the whole table for each row.
 * Built on first use.
 */
#include "query/query-private.h"

#include <stdlib.h>

struct filling {
	struct query_index *index;
	int column;
};

static int take(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct filling *f = arg;

	for (size_t i = 0; i < b->rows; i++) {
		int64_t value = b->columns[f->column].ints[i];

		if (value != STORE_NULL)
			f->index->entries[f->index->count++] = (struct query_index_entry){ .value = value,
				.block = (uint32_t)block,
				.row = (uint32_t)i };
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const struct query_index_entry *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

const struct query_index *query_index_of(struct query_table *t, int column)
{
	struct store_scan_opts opts = { .cols = &column, .ncols = 1, .threads = 1 };
	struct query_index *x = t->indices;
	struct filling f = { .column = column };

	while (x && x->column != column)
		x = x->next;
	if (x)
		return x;
	x = arena_alloc(&t->query->arena, sizeof(*x));
	if (!x || !(x->entries = calloc(store_table_rows(t->table) + 1, sizeof(*x->entries))))
		return NULL;
	f.index = x;
	if (store_scan(t->table, &opts, take, &f, NULL) < 0) {
		free(x->entries);
		return NULL;
	}
	if (x->count)
		qsort(x->entries, x->count, sizeof(*x->entries), by_value);
	x->column = column;
	x->next = t->indices;
	t->indices = x;
	return x;
}

/* Number of entries below value, or (is_with) not above it. */
static size_t count_below(const struct query_index *x, int64_t value, bool is_with)
{
	size_t lo = 0, hi = x->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (x->entries[mid].value < value || (is_with && x->entries[mid].value == value))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

size_t query_index_find(const struct query_index *x, int64_t value, size_t *from)
{
	*from = count_below(x, value, false);
	return count_below(x, value, true);
}

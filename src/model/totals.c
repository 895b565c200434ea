#include "model/totals.h"

#include "model/dimensions.h"
#include "model/model-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sums {
	struct model_total *at; /* indexed from 0 */
	size_t count;
};

struct counting {
	struct model_run *run;
	int64_t from_ns, to_ns; /* calls that start in [from, to) */
	struct sums calls;      /* by string id of the name */
	struct sums paths;      /* by number of the path */
};

static struct model_total *sum_of(struct sums *s, size_t number)
{
	size_t count = s->count ? s->count : 64;
	struct model_total *at;

	if (number < s->count)
		return &s->at[number];
	while (count <= number)
		count *= 2;
	at = reallocarray(s->at, count, sizeof(*at));
	if (!at)
		return NULL;
	memset(at + s->count, 0, (count - s->count) * sizeof(*at));
	s->at = at;
	s->count = count;
	return &s->at[number];
}

static void add(struct model_total *t, const struct model_total *one)
{
	t->calls += one->calls;
	t->errors += one->errors;
	t->bytes += one->bytes;
	if (__builtin_add_overflow(t->total_ns, one->total_ns, &t->total_ns))
		t->total_ns = INT64_MAX; /* only with hostile tables */
}

static struct model_total one_row(const struct model_call *call, const struct store_batch *b, size_t i)
{
	int64_t dur_ns = b->columns[STORE_IO_dur_ns].ints[i];
	int64_t bytes = model_call_bytes(call, b->columns[STORE_IO_ret].ints[i], b->columns[STORE_IO_size].ints[i],
			b->columns[STORE_IO_arg0].ints[i], b->columns[STORE_IO_arg1].ints[i]);

	return (struct model_total){
		.calls = 1,
		.errors = b->columns[STORE_IO_errnum].ints[i] > 0,
		.bytes = bytes > 0 ? (uint64_t)bytes : 0,
		.total_ns = dur_ns > 0 ? dur_ns : 0,
	};
}

static int count_block(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct counting *c = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		int64_t call = b->columns[STORE_IO_call].ints[i];
		struct model_total one = one_row(model_call(c->run, call), b, i), *sum;
		uint32_t path;

		if (b->columns[STORE_IO_ts_ns].ints[i] < c->from_ns || b->columns[STORE_IO_ts_ns].ints[i] >= c->to_ns)
			continue;
		path = model_file_number(c->run, b->columns[STORE_IO_file].ints[i]);
		if (model_name(c->run, call)) {
			sum = sum_of(&c->calls, (size_t)call);
			if (!sum)
				return -ENOMEM;
			add(sum, &one);
		}
		if (path) {
			sum = sum_of(&c->paths, path);
			if (!sum)
				return -ENOMEM;
			add(sum, &one);
		}
	}
	return 0;
}

/* Move those that occurred to the front and set their names; the rest of the array is unused. */
static size_t name_calls(const struct model_run *run, struct sums *s)
{
	size_t kept = 0;

	for (size_t id = 0; id < s->count; id++) {
		const struct model_call *call = model_call(run, (int64_t)id);
		const struct store_text *name = model_name(run, (int64_t)id);

		if (!s->at[id].calls || !name)
			continue;
		s->at[kept] = s->at[id];
		s->at[kept].name = *name;
		if (call && call->category)
			s->at[kept].category = *call->category;
		kept++;
	}
	return kept;
}

static size_t name_paths(const struct model_run *run, struct sums *s)
{
	size_t kept = 0;

	for (size_t number = 0; number < s->count; number++) {
		if (!s->at[number].calls)
			continue;
		s->at[kept] = s->at[number];
		s->at[kept++].name = model_path(run, (uint32_t)number);
	}
	return kept;
}

int model_totals_make(struct model_run *run, struct model_totals *totals, struct sonde_err *err)
{
	return model_totals_between(run, INT64_MIN, INT64_MAX, totals, err);
}

int model_totals_between(struct model_run *run, int64_t from_ns, int64_t to_ns, struct model_totals *totals,
		struct sonde_err *err)
{
	static const int cols[] = { STORE_IO_call, STORE_IO_file, STORE_IO_dur_ns, STORE_IO_ret, STORE_IO_errnum,
		STORE_IO_size, STORE_IO_arg0, STORE_IO_arg1, STORE_IO_ts_ns };
	struct store_scan_opts opts = { .cols = cols,
		.ncols = sizeof(cols) / sizeof(*cols),
		.threads = 1,
		.has_range = true,
		.from_ns = from_ns,
		.to_ns = to_ns };
	struct store_table *t = model_table(run, STORE_TABLE_IO);
	struct counting c = { .run = run, .from_ns = from_ns, .to_ns = to_ns };
	int rc = model_load(run, MODEL_CALLS | MODEL_FILES, err);

	if (rc == 0 && t)
		rc = store_scan(t, &opts, count_block, &c, err);
	if (rc < 0) {
		free(c.calls.at);
		free(c.paths.at);
		return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot sum up the calls") : rc;
	}
	*totals = (struct model_totals){ .calls = c.calls.at, .paths = c.paths.at };
	totals->call_count = name_calls(run, &c.calls);
	totals->path_count = name_paths(run, &c.paths);
	model_sort_by_time(totals->calls, totals->call_count);
	return 0;
}

void model_totals_release(struct model_totals *totals)
{
	free(totals->calls);
	free(totals->paths);
	*totals = (struct model_totals){ .calls = NULL };
}

static int by_name(const struct model_total *a, const struct model_total *b)
{
	return strcmp(a->name.data, b->name.data);
}

static int by_time(const void *a, const void *b)
{
	const struct model_total *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	return by_name(left, right);
}

static int by_bytes(const void *a, const void *b)
{
	const struct model_total *left = a, *right = b;

	if (left->bytes != right->bytes)
		return left->bytes > right->bytes ? -1 : 1;
	return by_name(left, right);
}

void model_sort_by_time(struct model_total *totals, size_t count)
{
	if (count)
		qsort(totals, count, sizeof(*totals), by_time);
}

void model_sort_by_bytes(struct model_total *totals, size_t count)
{
	if (count)
		qsort(totals, count, sizeof(*totals), by_bytes);
}

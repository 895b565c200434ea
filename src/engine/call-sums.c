#include "engine/call-sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Derived columns. */

static void fill_bytes(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const int64_t *calls = rows->ints[STORE_IO_call], *rets = rows->ints[STORE_IO_ret];
	const int64_t *sizes = rows->ints[STORE_IO_size], *args = rows->ints[STORE_IO_arg0];
	const int64_t *args1 = rows->ints[STORE_IO_arg1];
	const struct model_call *call = NULL;
	int64_t last = STORE_NULL;

	for (size_t i = 0; i < rows->count; i++) {
		if (calls[i] != last) {
			call = model_call(arg, calls[i]);
			last = calls[i];
		}
		out[i] = model_call_bytes(call, rets[i], sizes[i], args[i], args1[i]);
	}
}

static void fill_moved(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	fill_bytes(arg, rows, out);
	for (size_t i = 0; i < rows->count; i++)
		out[i] = out[i] > 0 ? out[i] : STORE_NULL;
}

#define PATH_CACHE 256u

/* Rows of one file are adjacent: a small cache saves most lookups. */
static void fill_numbers(const struct model_run *run, const int64_t *files, size_t count, int64_t *out)
{
	struct {
		int64_t file, number;
	} cache[PATH_CACHE] = { 0 };

	for (size_t i = 0; i < PATH_CACHE; i++)
		cache[i].file = STORE_NULL;
	for (size_t i = 0; i < count; i++) {
		size_t at = ((uint64_t)files[i] * 0x9e3779b97f4a7c15u) >> 56;

		if (cache[at].file != files[i]) {
			cache[at].file = files[i];
			cache[at].number = model_known_number(run, files[i]);
		}
		out[i] = files[i] == STORE_NULL ? 0 : cache[at].number;
	}
}

static void fill_path(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	fill_numbers(arg, rows->ints[STORE_IO_file], rows->count, out);
}

static void fill_path2(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	fill_numbers(arg, rows->ints[STORE_IO_file2], rows->count, out);
}

static void fill_kind(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const int64_t *calls = rows->ints[STORE_IO_call];

	for (size_t i = 0; i < rows->count; i++) {
		const struct model_call *call = model_call(arg, calls[i]);

		out[i] = call ? call->kind : CALL_KIND_OTHER;
	}
}

static void fill_is_error(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const int64_t *errnums = rows->ints[STORE_IO_errnum];

	for (size_t i = 0; i < rows->count; i++)
		out[i] = errnums[i] > 0;
}

#define BYTES_NEEDS \
	5, \
	{ \
		STORE_IO_call, STORE_IO_ret, STORE_IO_size, STORE_IO_arg0, STORE_IO_arg1 \
	}

int engine_call_column(struct engine_plan *plan, const struct model_run *run, enum engine_call_column column)
{
	static const struct engine_derive columns[ENGINE_CALL_COLUMNS] = {
		[ENGINE_CALL_BYTES] = { fill_bytes, NULL, BYTES_NEEDS },
		[ENGINE_CALL_MOVED] = { fill_moved, NULL, BYTES_NEEDS },
		[ENGINE_CALL_PATH] = { fill_path, NULL, 1, { STORE_IO_file } },
		[ENGINE_CALL_PATH2] = { fill_path2, NULL, 1, { STORE_IO_file2 } },
		[ENGINE_CALL_KIND] = { fill_kind, NULL, 1, { STORE_IO_call } },
		[ENGINE_CALL_IS_ERROR] = { fill_is_error, NULL, 1, { STORE_IO_errnum } },
	};
	struct engine_derive derive = columns[column];

	derive.arg = run;
	return engine_plan_derive(plan, &derive);
}

/* Sums. */

enum { BY_CALL, BY_PATH, BY_TARGET, QUERIES };
enum { Q_COUNT, Q_ERRORS, Q_BYTES, Q_TIME, Q_SUMS };

static int plan_sums(struct engine_plan *plan, const struct model_run *run)
{
	int path = engine_call_column(plan, run, ENGINE_CALL_PATH),
	    kind = engine_call_column(plan, run, ENGINE_CALL_KIND);
	struct engine_query by_call = { "calls", 1, { STORE_IO_call }, ENGINE_NONE, Q_SUMS,
		{ [Q_COUNT] = { ENGINE_COUNT, ENGINE_NONE },
				[Q_ERRORS] = { ENGINE_SUM, engine_call_column(plan, run, ENGINE_CALL_IS_ERROR) },
				[Q_BYTES] = { ENGINE_SUM, engine_call_column(plan, run, ENGINE_CALL_MOVED) },
				[Q_TIME] = { ENGINE_TIME, ENGINE_NONE } } };
	struct engine_query by_path = by_call, by_target = by_call;
	int rc = engine_plan_query(plan, &by_call);

	by_path.name = "paths";
	by_path.keys[0] = by_path.filter = path; /* number 0, no path, is filtered out */
	by_target.name = "targets of copies";
	by_target.key_count = 2;
	by_target.keys[0] = by_target.filter = engine_call_column(plan, run, ENGINE_CALL_PATH2);
	by_target.keys[1] = kind;
	by_target.aggregate_count = Q_TIME;
	if (rc >= 0)
		rc = engine_plan_query(plan, &by_path);
	if (rc >= 0)
		rc = engine_plan_query(plan, &by_target);
	return rc < 0 ? rc : 0;
}

static struct call_sum sum_of(const struct engine_groups *g, size_t i)
{
	return (struct call_sum){ .calls = engine_count(g, Q_COUNT, i),
		.errors = (uint64_t)engine_sum(g, Q_ERRORS, i),
		.bytes = (uint64_t)engine_sum(g, Q_BYTES, i),
		.total_ns = engine_sum(g, Q_TIME, i) };
}

static int read_calls(struct call_sums *s, const struct model_run *run, const struct engine_groups *g)
{
	s->calls = calloc(g->count + 1, sizeof(*s->calls));
	for (size_t i = 0; s->calls && i < g->count; i++) {
		const struct store_text *name = model_name(run, engine_key(g, i, 0));
		const struct model_call *call = model_call(run, engine_key(g, i, 0));

		if (!name) /* only in a damaged run */
			continue;
		s->calls[s->call_count] = sum_of(g, i);
		s->calls[s->call_count].name = *name;
		if (call && call->category)
			s->calls[s->call_count].category = *call->category;
		s->call_count++;
	}
	return s->calls ? 0 : -ENOMEM;
}

/* Both lists of groups are sorted by path: merge them. */
static int read_paths(struct call_sums *s, const struct model_run *run, const struct engine_groups *paths,
		const struct engine_groups *targets)
{
	size_t p = 0, t = 0;

	s->has_too_many_paths = paths->is_over || targets->is_over;
	s->paths = calloc(paths->count + targets->count + 1, sizeof(*s->paths));
	while (s->paths && !s->has_too_many_paths && (p < paths->count || t < targets->count)) {
		struct call_sum sum = { .calls = 0 };
		int64_t number = p < paths->count ? engine_key(paths, p, 0) : INT64_MAX;

		if (t < targets->count && engine_key(targets, t, 0) < number)
			number = engine_key(targets, t, 0);
		if (p < paths->count && engine_key(paths, p, 0) == number)
			sum = sum_of(paths, p++);
		for (; t < targets->count && engine_key(targets, t, 0) == number; t++)
			if (engine_key(targets, t, 1) == CALL_KIND_COPY) {
				sum.calls += engine_count(targets, Q_COUNT, t);
				sum.bytes += (uint64_t)engine_sum(targets, Q_BYTES, t);
			}
		sum.name = model_path(run, (uint32_t)number);
		if (number && (sum.calls || sum.total_ns))
			s->paths[s->path_count++] = sum;
	}
	return s->paths ? 0 : -ENOMEM;
}

int call_sums_read(struct call_sums *sums, struct model_run *run, const struct engine_run_opts *opts,
		struct sonde_err *err)
{
	struct store_table *table = model_table(run, STORE_TABLE_IO);
	struct engine_plan *plan = NULL;
	int rc = model_load(run, MODEL_CALLS, err);

	*sums = (struct call_sums){ .calls = NULL };
	if (rc == 0)
		rc = model_paths_load(run, err);
	if (rc == 0)
		rc = engine_plan_new(&plan, &store_io_schema, err);
	if (rc == 0)
		rc = plan_sums(plan, run);
	if (rc == 0 && table)
		rc = engine_plan_run(plan, table, opts, err);
	if (rc == 0)
		rc = engine_plan_finish(plan, err);
	if (rc == 0 &&
			(read_calls(sums, run, engine_plan_groups(plan, BY_CALL)) < 0 ||
					read_paths(sums, run, engine_plan_groups(plan, BY_PATH),
							engine_plan_groups(plan, BY_TARGET)) < 0)) {
		call_sums_release(sums);
		rc = err_sys(err, ENOMEM, "cannot sum up the calls");
	}
	engine_plan_free(plan);
	call_sums_by_time(sums->calls, sums->call_count);
	call_sums_by_time(sums->paths, sums->path_count);
	return rc;
}

void call_sums_release(struct call_sums *sums)
{
	free(sums->calls);
	free(sums->paths);
	*sums = (struct call_sums){ .calls = NULL };
}

static int by_name(const struct call_sum *a, const struct call_sum *b)
{
	return strcmp(a->name.data, b->name.data);
}

static int by_time(const void *a, const void *b)
{
	const struct call_sum *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	return by_name(left, right);
}

static int by_bytes(const void *a, const void *b)
{
	const struct call_sum *left = a, *right = b;

	if (left->bytes != right->bytes)
		return left->bytes > right->bytes ? -1 : 1;
	return by_name(left, right);
}

void call_sums_by_time(struct call_sum *sums, size_t count)
{
	if (count)
		qsort(sums, count, sizeof(*sums), by_time);
}

void call_sums_by_bytes(struct call_sum *sums, size_t count)
{
	if (count)
		qsort(sums, count, sizeof(*sums), by_bytes);
}

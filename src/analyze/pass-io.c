/*
 * File calls: by call, process and time, with sizes and access pattern; by file and directory in io-paths.c. Sockets
 * and processes are excluded.
 */
#include "analyze/io-table.h"

/* Planning. */

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	struct analyze_io *io = state;
	int bytes = analyze_io_column(a, IO_BYTES), path = analyze_io_column(a, IO_PATH);
	int kind = analyze_io_column(a, IO_KIND), is_error = analyze_io_column(a, IO_IS_ERROR);
	int is_small = analyze_io_column(a, IO_IS_SMALL), pattern = analyze_io_column(a, IO_PATTERN);
	int bucket = analyze_io_column(a, IO_BUCKET);
	struct engine_query by_call = { "io by call", 1, { STORE_IO_call }, ENGINE_NONE, 6,
		{ [IO_Q_COUNT] = { ENGINE_COUNT, ENGINE_NONE },
				[IO_Q_DUR] = { ENGINE_TIME, ENGINE_NONE },
				[IO_Q_BYTES] = { ENGINE_SUM, bytes },
				[IO_Q_ERRORS] = { ENGINE_SUM, is_error },
				[IO_Q_DURS] = { ENGINE_QUANTILES, STORE_IO_dur_ns },
				[IO_Q_SIZES] = { ENGINE_QUANTILES, bytes } } };
	struct engine_query by_path = { "io by path", 2, { path, kind }, ENGINE_NONE, 6,
		{ [IO_Q_COUNT] = { ENGINE_COUNT, ENGINE_NONE },
				[IO_Q_DUR] = { ENGINE_TIME, ENGINE_NONE },
				[IO_Q_BYTES] = { ENGINE_SUM, bytes },
				[IO_Q_ERRORS] = { ENGINE_SUM, is_error },
				[IO_Q_SMALL] = { ENGINE_SUM, is_small },
				[IO_Q_BUFFERED] = { ENGINE_SUM, analyze_io_column(a, IO_IS_BUFFERED) } } };
	struct engine_query by_process = by_path, by_bucket = by_path, by_target = by_path;
	struct engine_query by_pattern = { "io by pattern", 2, { kind, pattern }, ENGINE_NONE, 3,
		{ [IO_Q_COUNT] = { ENGINE_COUNT, ENGINE_NONE },
				[IO_Q_DUR] = { ENGINE_TIME, ENGINE_NONE },
				[IO_Q_BYTES] = { ENGINE_SUM, bytes } } };
	struct engine_query by_path_pattern = { "io by path and pattern", 2, { path, pattern }, pattern, 1,
		{ { ENGINE_COUNT, ENGINE_NONE } } };

	(void)err;
	by_process.aggregate_count = by_bucket.aggregate_count = IO_Q_BUFFERED;
	by_process.name = "io by process";
	by_process.keys[0] = STORE_IO_process;
	by_target.name = "io by target";
	by_target.keys[0] = analyze_io_column(a, IO_PATH2);
	by_bucket.name = "io by time";
	by_bucket.keys[0] = bucket;
	io->by_call = analyze_query(a, STORE_TABLE_IO, &by_call);
	io->by_path = analyze_query(a, STORE_TABLE_IO, &by_path);
	io->by_target = analyze_query(a, STORE_TABLE_IO, &by_target);
	io->by_process = analyze_query(a, STORE_TABLE_IO, &by_process);
	io->by_pattern = analyze_query(a, STORE_TABLE_IO, &by_pattern);
	io->by_path_pattern = analyze_query(a, STORE_TABLE_IO, &by_path_pattern);
	io->by_bucket = analyze_query(a, STORE_TABLE_IO, &by_bucket);
	return 0;
}

/* Sums. */

/* Excludes sockets and processes. */
static bool is_file_kind(int64_t kind)
{
	return !call_kind_is_network((unsigned)kind) && !call_kind_is_process((unsigned)kind);
}

void io_sums_add(struct io_sums *s, const struct engine_groups *g, size_t i, int64_t kind)
{
	uint64_t count = engine_count(g, IO_Q_COUNT, i);
	int64_t bytes = engine_sum(g, IO_Q_BYTES, i);

	s->calls += count;
	s->dur_ns += engine_sum(g, IO_Q_DUR, i);
	s->bytes += bytes;
	s->errors += (uint64_t)engine_sum(g, IO_Q_ERRORS, i);
	s->small += (uint64_t)engine_sum(g, IO_Q_SMALL, i);
	s->reads += kind == CALL_KIND_READ ? count : 0;
	s->writes += kind == CALL_KIND_WRITE ? count : 0;
	s->copies += kind == CALL_KIND_COPY ? count : 0;
	s->opens += kind == CALL_KIND_OPEN ? count : 0;
	s->stats += kind == CALL_KIND_STAT ? count : 0;
	s->read_bytes += kind == CALL_KIND_READ || kind == CALL_KIND_COPY ? bytes : 0;
	s->write_bytes += kind == CALL_KIND_WRITE ? bytes : 0;
	s->copied_bytes += kind == CALL_KIND_COPY ? bytes : 0;
}

size_t io_sum_key(const struct engine_groups *g, size_t i, struct io_sums *sums)
{
	int64_t key = engine_key(g, i, 0);

	*sums = (struct io_sums){ .calls = 0 };
	for (; i < g->count && engine_key(g, i, 0) == key; i++)
		if (is_file_kind(engine_key(g, i, 1)))
			io_sums_add(sums, g, i, engine_key(g, i, 1));
	return i;
}

/* By call. */

static const struct analyze_column call_columns[] = {
	{ "call", "CALL", ANALYZE_TEXT },
	{ "category", NULL, ANALYZE_TEXT },
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "errors", "ERRORS", ANALYZE_COUNT },
	{ "total_ns", "TIME", ANALYZE_NS },
	{ "median_ns", "MEDIAN", ANALYZE_NS },
	{ "p99_ns", "P99", ANALYZE_NS },
	{ "max_ns", "MAX", ANALYZE_NS },
	{ "bytes", "BYTES", ANALYZE_BYTES },
	{ "sizes", NULL, ANALYZE_COUNT },
	{ "size_min", NULL, ANALYZE_BYTES },
	{ "size_q1", NULL, ANALYZE_BYTES },
	{ "size_mean", NULL, ANALYZE_REAL },
	{ "size_median", "SIZE", ANALYZE_BYTES },
	{ "size_q3", NULL, ANALYZE_BYTES },
	{ "size_max", NULL, ANALYZE_BYTES },
};

static void cell_quantile(struct analyze_table *t, const struct engine_groups *g, unsigned a, size_t i, double p)
{
	double v = engine_quantile(g, a, i, p);

	analyze_cell_int(t, v != v ? STORE_NULL : (int64_t)(v + 0.5));
}

static void add_call(struct analyze *a, struct analyze_table *t, const struct engine_groups *g, size_t i)
{
	static const double sizes[] = { 0, 0.25, 0.5, 0.75, 1 };
	const struct model_call *call = model_call(a->run, engine_key(g, i, 0));

	analyze_cell_bytes(t, model_name(a->run, engine_key(g, i, 0)));
	analyze_cell_bytes(t, call ? call->category : NULL);
	analyze_cell_int(t, (int64_t)engine_count(g, IO_Q_COUNT, i));
	analyze_cell_int(t, engine_sum(g, IO_Q_ERRORS, i));
	analyze_cell_int(t, engine_sum(g, IO_Q_DUR, i));
	cell_quantile(t, g, IO_Q_DURS, i, 0.5);
	cell_quantile(t, g, IO_Q_DURS, i, 0.99);
	cell_quantile(t, g, IO_Q_DURS, i, 1);
	analyze_cell_int(t, engine_sum(g, IO_Q_BYTES, i));
	analyze_cell_int(t, (int64_t)engine_count(g, IO_Q_BYTES, i));
	for (size_t q = 0; q < sizeof(sizes) / sizeof(*sizes); q++) {
		cell_quantile(t, g, IO_Q_SIZES, i, sizes[q]);
		if (q == 1)
			analyze_cell_real(t, engine_mean(g, IO_Q_BYTES, i));
	}
}

static void add_calls(struct analyze *a, struct analyze_section *s, const struct engine_groups *g)
{
	struct analyze_rank *ranks = analyze_ranks(a, g->count);
	struct analyze_table *t = analyze_table(s, "by_call", "Calls by time", call_columns,
			sizeof(call_columns) / sizeof(*call_columns), 0);

	for (size_t i = 0; ranks && i < g->count; i++)
		ranks[i] = (struct analyze_rank){ .weight = engine_sum(g, IO_Q_DUR, i), .index = i };
	analyze_rank(ranks, ranks ? g->count : 0);
	for (size_t i = 0; ranks && i < analyze_top(a, g->count); i++)
		add_call(a, t, g, ranks[i].index);
	if (t)
		t->all_rows = g->count;
}

/* By process and time. */

static const struct analyze_column process_columns[] = {
	{ "process", "PROCESS", ANALYZE_ID },
	{ "pid", "PID", ANALYZE_ID },
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "total_ns", "TIME", ANALYZE_NS },
	{ "read_bytes", "READ", ANALYZE_BYTES },
	{ "write_bytes", "WRITTEN", ANALYZE_BYTES },
	{ "exe", "PROGRAM", ANALYZE_TEXT },
};

static void add_processes(struct analyze *a, struct analyze_section *s, const struct engine_groups *g)
{
	struct analyze_rank *ranks = analyze_ranks(a, g->count);
	struct analyze_table *t = analyze_table(s, "by_process", "Processes by I/O time", process_columns,
			sizeof(process_columns) / sizeof(*process_columns), ANALYZE_DETAIL);
	struct io_sums sums;
	size_t n = 0;

	for (size_t i = 0; ranks && i < g->count; n++) {
		size_t start = i;

		i = io_sum_key(g, i, &sums);
		ranks[n] = (struct analyze_rank){ .weight = sums.dur_ns, .index = start };
	}
	analyze_rank(ranks, n);
	for (size_t i = 0; ranks && i < analyze_top(a, n); i++) {
		int64_t number = engine_key(g, ranks[i].index, 0);
		const struct store_process *process = model_process(a->run, number);

		io_sum_key(g, ranks[i].index, &sums);
		analyze_cell_int(t, number);
		analyze_cell_int(t, process ? process->pid : STORE_NULL);
		analyze_cell_int(t, (int64_t)sums.calls);
		analyze_cell_int(t, sums.dur_ns);
		analyze_cell_int(t, sums.read_bytes);
		analyze_cell_int(t, sums.write_bytes + sums.copied_bytes);
		analyze_cell_bytes(t, process ? model_name(a->run, process->exe) : NULL);
	}
	if (t)
		t->all_rows = n;
}

static const struct analyze_column time_columns[] = {
	{ "from_ns", "FROM", ANALYZE_NS },
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "total_ns", "TIME", ANALYZE_NS },
	{ "read_bytes", "READ", ANALYZE_BYTES },
	{ "write_bytes", "WRITTEN", ANALYZE_BYTES },
};

static void add_times(struct analyze *a, struct analyze_section *s, const struct engine_groups *g)
{
	struct analyze_table *t = analyze_table(s, "by_time", "Calls by start time", time_columns,
			sizeof(time_columns) / sizeof(*time_columns), ANALYZE_DETAIL);
	struct io_sums sums;

	for (size_t i = 0; i < g->count;) {
		int64_t bucket = engine_key(g, i, 0);

		i = io_sum_key(g, i, &sums);
		if (bucket == STORE_NULL)
			continue;
		analyze_cell_int(t, bucket * a->bucket_ns);
		analyze_cell_int(t, (int64_t)sums.calls);
		analyze_cell_int(t, sums.dur_ns);
		analyze_cell_int(t, sums.read_bytes);
		analyze_cell_int(t, sums.write_bytes + sums.copied_bytes);
	}
}

/* Access pattern. */

static const struct analyze_column pattern_columns[] = {
	{ "kind", "ACCESS", ANALYZE_TEXT },
	{ "compared", "COMPARED", ANALYZE_COUNT },
	{ "sequential", "SEQUENTIAL", ANALYZE_RATIO },
	{ "strided", "STRIDED", ANALYZE_RATIO },
	{ "random", "RANDOM", ANALYZE_RATIO },
};

static void add_pattern(struct analyze_section *s, const struct engine_groups *g)
{
	struct analyze_table *t = analyze_table(s, "patterns", "Access pattern", pattern_columns,
			sizeof(pattern_columns) / sizeof(*pattern_columns), ANALYZE_DETAIL);

	for (size_t i = 0; i < g->count;) {
		int64_t kind = engine_key(g, i, 0);
		uint64_t counts[PATTERNS] = { 0 }, all;

		for (; i < g->count && engine_key(g, i, 0) == kind; i++)
			counts[engine_key(g, i, 1)] = engine_count(g, IO_Q_COUNT, i);
		all = counts[PATTERN_SEQUENTIAL] + counts[PATTERN_STRIDED] + counts[PATTERN_RANDOM];
		if (!all)
			continue;
		analyze_cell_text(t, call_kind_word((unsigned)kind));
		analyze_cell_int(t, (int64_t)all);
		for (int p = PATTERN_SEQUENTIAL; p < PATTERNS; p++)
			analyze_cell_real(t, (double)counts[p] / (double)all);
	}
}

/* Totals. */

static void add_fields(struct analyze_section *s, const struct io_sums *all, size_t files)
{
	analyze_int(s, "calls", "calls", ANALYZE_COUNT, (int64_t)all->calls);
	analyze_int(s, "total_ns", "time in calls", ANALYZE_SUM_NS, all->dur_ns);
	analyze_int(s, "read_bytes", "read", ANALYZE_BYTES, all->read_bytes);
	analyze_int(s, "write_bytes", "written", ANALYZE_BYTES, all->write_bytes + all->copied_bytes);
	analyze_int(s, "files", "files", ANALYZE_COUNT, (int64_t)files);
	analyze_int(s, "errors", "errors", ANALYZE_COUNT, (int64_t)all->errors);
	analyze_int(s, "reads", NULL, ANALYZE_COUNT, (int64_t)all->reads);
	analyze_int(s, "writes", NULL, ANALYZE_COUNT, (int64_t)all->writes);
	analyze_int(s, "copies", NULL, ANALYZE_COUNT, (int64_t)all->copies);
	analyze_int(s, "opens", NULL, ANALYZE_COUNT, (int64_t)all->opens);
	analyze_int(s, "stats", NULL, ANALYZE_COUNT, (int64_t)all->stats);
	analyze_int(s, "small", NULL, ANALYZE_COUNT, (int64_t)all->small);
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const struct analyze_io *io = state;
	const struct engine_groups *by_path = analyze_groups(a, STORE_TABLE_IO, io->by_path);
	struct io_sums all = { .calls = 0 };
	struct io_path *paths;
	size_t path_count;

	(void)err;
	if (by_path->is_over || !by_path->count) {
		analyze_absent(s, by_path->is_over ? "too many different files" : "no calls were recorded");
		return 0;
	}
	for (size_t i = 0; i < by_path->count; i++)
		if (is_file_kind(engine_key(by_path, i, 1)))
			io_sums_add(&all, by_path, i, engine_key(by_path, i, 1));
	paths = io_paths_collect(a, io, &path_count);
	add_fields(s, &all, path_count);
	add_calls(a, s, analyze_groups(a, STORE_TABLE_IO, io->by_call));
	io_paths_add(a, s, paths, path_count);
	add_processes(a, s, analyze_groups(a, STORE_TABLE_IO, io->by_process));
	add_pattern(s, analyze_groups(a, STORE_TABLE_IO, io->by_pattern));
	add_times(a, s, analyze_groups(a, STORE_TABLE_IO, io->by_bucket));
	return 0;
}

const struct analyze_pass analyze_pass_io = { .key = "io",
	.title = "I/O",
	.state_bytes = sizeof(struct analyze_io),
	.plan = plan,
	.finish = finish };

/*
 * Predefined views, and two small tables: `run`, the run in one row, and `tables`, the list of tables and functions.
 */
#include "query/query-private.h"

#include "store/schema.h"

static const struct {
	const char *name, *doc, *sql;
} views[] = {
	{ "calls", "calls with their paths, categories and bytes",
			"SELECT ts_ns, dur_ns, process, pid, tid, call, category, kind, path, path2, fd, bytes, "
			"size, \"offset\", "
			"ret, errnum FROM io" },
	{ "files", "calls and bytes by path; a copy counts as read from its source and written to its target",
			"WITH uses AS (SELECT path, kind, category, bytes, dur_ns, errnum, process, ts_ns, "
			"CASE WHEN kind IN ('read', 'recv', 'copy') THEN bytes END AS read_bytes, "
			"CASE WHEN kind IN ('write', 'send') THEN bytes END AS written_bytes FROM io "
			"WHERE path IS NOT NULL "
			"UNION ALL SELECT path2, kind, category, bytes, 0, 0, process, ts_ns, NULL, bytes FROM io "
			"WHERE kind = 'copy' AND path2 IS NOT NULL) "
			"SELECT path, count(*) AS calls, sum(kind = 'open') AS opens, "
			"sum(read_bytes) AS read_bytes, sum(written_bytes) AS written_bytes, "
			"sum(bytes) AS bytes, sum(dur_ns) AS total_ns, sum(errnum <> 0) AS errors, "
			"count(DISTINCT process) AS processes, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns "
			"FROM uses GROUP BY path" },
	{ "processes", "process images and how they ended",
			"SELECT process, pid, ppid, parent, exe, argv, cwd, start_ns, end_ns, end_ns - "
			"start_ns AS life_ns, "
			"exit_code, exit_signal, state, events, dropped FROM process" },
	{ "threads", "threads as seen by the kernel",
			"SELECT process, pid, tid, name, start_ns, end_ns, run_ns, samples FROM task" },
	{ "steps", "steps with the time since the one before",
			"SELECT ts_ns, process, pid, tid, name, \"index\" AS step, value, ts_ns - lag(ts_ns) OVER "
			"(PARTITION BY process, tid, name ORDER BY ts_ns) AS dur_ns FROM step" },
	{ "states", "time of each thread by state; the remainder is running",
			"WITH off AS (SELECT pid, tid, state, "
			"coalesce(dur_ns, max(0, (SELECT end_ns FROM run) - ts_ns)) AS off_ns, wake_ns - ts_ns "
			"AS to_wake_ns "
			"FROM sched WHERE state <> 'ended'), "
			"split AS (SELECT pid, tid, state, off_ns, CASE WHEN state = 'preempted' THEN 0 "
			"WHEN to_wake_ns IS NULL OR to_wake_ns > off_ns THEN off_ns ELSE max(0, to_wake_ns) "
			"END AS waited_ns "
			"FROM off), "
			"parts AS (SELECT pid, tid, state, waited_ns AS ns FROM split WHERE state <> 'preempted' "
			"UNION ALL SELECT pid, tid, 'runnable', off_ns - waited_ns FROM split), "
			"life AS (SELECT pid, tid, max(0, min(coalesce(end_ns, (SELECT end_ns FROM run)), "
			"(SELECT end_ns FROM run)) - max(coalesce(start_ns, (SELECT start_ns FROM run)), "
			"(SELECT start_ns FROM run))) AS ns, run_ns FROM task), "
			"sums AS (SELECT pid, tid, state, sum(ns) AS ns, count(*) AS times FROM parts "
			"GROUP BY pid, tid, state), "
			"rest AS (SELECT l.pid, l.tid, l.ns AS life_ns, max(0, l.ns - coalesce((SELECT sum(ns) "
			"FROM sums s WHERE s.tid = l.tid AND s.pid = l.pid), 0)) AS ns, run_ns FROM life l), "
			/* switches were lost: running time is neither longer nor shorter than the kernel's figure */
			"known AS (SELECT pid, tid, ns, life_ns, CASE WHEN ns > run_ns * 1.02 + 1000000 OR "
			"(ns < run_ns * 0.98 - 1000000 AND run_ns <= life_ns) THEN run_ns ELSE ns END AS ran_ns "
			"FROM rest) "
			"SELECT pid, tid, state, sum(ns) AS ns, sum(times) AS times FROM (SELECT pid, tid, state, "
			"CAST(ns * coalesce((SELECT (life_ns - ran_ns) * 1.0 / (life_ns - k.ns) FROM known k "
			"WHERE k.tid = s.tid AND k.pid = s.pid AND k.ran_ns > k.ns), 1) AS INTEGER) AS ns, times "
			"FROM sums s UNION ALL SELECT pid, tid, 'wait', ns - ran_ns, 1 FROM known WHERE ns > ran_ns) "
			"GROUP BY pid, tid, state "
			"UNION ALL SELECT pid, tid, 'running', ran_ns, NULL FROM known" },
	{ "samples", "samples with the function they were in",
			"SELECT ts_ns, process, pid, tid, cpu, event, weight_ns, is_kernel, stack, function "
			"FROM sample" },
	{ "functions", "CPU time by function, self and total, highest first",
			"WITH s AS (SELECT stack, count(*) AS n, sum(weight_ns) AS ns FROM sample GROUP BY stack), "
			"f AS (SELECT s.stack, frame.function, frame.module, max(CASE WHEN depth = 0 THEN s.n "
			"ELSE 0 END) "
			"AS self_n, max(CASE WHEN depth = 0 THEN s.ns ELSE 0 END) AS self_ns, max(s.ns) AS ns "
			"FROM s JOIN frame ON frame.stack = s.stack GROUP BY s.stack, frame.function) "
			"SELECT function, max(module) AS module, sum(self_n) AS samples, sum(self_ns) AS self_ns, "
			"sum(ns) AS total_ns FROM f GROUP BY function ORDER BY self_ns DESC, total_ns DESC, "
			"function" },
};

/* Table functions and functions, for the table `tables`. */
static const struct {
	const char *name, *doc;
} functions[] = {
	{ "stats(table, column[, by, by2, since_ns, until_ns])",
			"table function: key, key2, count, sum, mean, stddev, min, max, p50, p95, p99, "
			"distinct_values" },
	{ "quantile(table, column, p[, by, by2, since_ns, until_ns])", "table function: key, key2, count, value" },
	{ "union_ns(table[, by, by2, since_ns, until_ns])",
			"table function: key, key2, count, total_ns, union_ns, most_at_once" },
	{ "buckets(table, n[, column, by, since_ns, until_ns])",
			"table function: bucket, from_ns, to_ns, key, count, sum, min, max" },
	{ "quantile(x, p)", "aggregate: the value of rank p * (n - 1), rounded down" },
	{ "median(x)", "aggregate: quantile(x, 0.5)" },
	{ "union_ns(ts_ns, dur_ns)", "aggregate: the time that intervals cover together" },
};

static int run_sql(struct query *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Format with SQLite's %q and %Q. */
static int run_sql(struct query *q, const char *fmt, ...)
{
	va_list ap;
	char *sql;
	int rc;

	va_start(ap, fmt);
	sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	rc = sql ? sqlite3_exec(q->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return rc;
}

static int insert(struct query *q, const char *kind, const char *table, const char *column, const char *type,
		const char *doc)
{
	sqlite3_stmt *s = NULL;
	const char *const words[] = { kind, table, column, type, doc };
	int rc = sqlite3_prepare_v2(q->db, "INSERT INTO tables VALUES (?, ?, ?, ?, ?)", -1, &s, NULL);

	for (int i = 0; i < 5 && rc == SQLITE_OK; i++)
		rc = words[i] ? sqlite3_bind_text(s, i + 1, words[i], -1, SQLITE_STATIC) : sqlite3_bind_null(s, i + 1);
	if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_DONE)
		rc = SQLITE_OK;
	sqlite3_finalize(s);
	return rc;
}

static int tell_tables(struct query *q)
{
	int rc = run_sql(q, "CREATE TABLE tables(kind TEXT, name TEXT, \"column\" TEXT, type TEXT, meaning TEXT)");

	for (size_t i = 0; i < q->table_count && rc == SQLITE_OK; i++) {
		const struct query_table *t = &q->tables[i];

		rc = insert(q, t->table ? "table" : "not recorded", t->schema->name, NULL, NULL, t->schema->doc);
		for (unsigned c = 0; c < t->column_count && rc == SQLITE_OK; c++)
			rc = insert(q, "column", t->schema->name, t->columns[c].name, query_how_type(t->columns[c].how),
					t->columns[c].doc);
	}
	if (rc == SQLITE_OK)
		rc = insert(q, "table", "frame", NULL, NULL,
				"one function of a stack: stack, depth from 0, function, module");
	for (size_t i = 0; i < sizeof(views) / sizeof(*views) && rc == SQLITE_OK; i++)
		rc = insert(q, "view", views[i].name, NULL, NULL, views[i].doc);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions) && rc == SQLITE_OK; i++)
		rc = insert(q, "function", functions[i].name, NULL, NULL, functions[i].doc);
	return rc;
}

static void bind_known(sqlite3_stmt *s, int at, int64_t v)
{
	if (v == STORE_NULL)
		sqlite3_bind_null(s, at);
	else
		sqlite3_bind_int64(s, at, v);
}

static int tell_run(struct query *q)
{
	int64_t start_ns = model_run_start_ns(q->run), wall_ns = model_run_int(q->run, "wall_ns"), end_ns = STORE_NULL;
	sqlite3_stmt *s = NULL;
	int rc = run_sql(q,
			"CREATE TABLE run(path TEXT, start_ns INTEGER, end_ns INTEGER, wall_ns INTEGER, "
			"cpus INTEGER, host TEXT, exit_code INTEGER)");

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(q->db, "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?)", -1, &s, NULL);
	if (rc != SQLITE_OK)
		return rc;
	if (start_ns != STORE_NULL && wall_ns != STORE_NULL && __builtin_add_overflow(start_ns, wall_ns, &end_ns))
		end_ns = STORE_NULL;
	sqlite3_bind_text(s, 1, model_run_path(q->run), -1, SQLITE_STATIC);
	bind_known(s, 2, start_ns);
	bind_known(s, 3, end_ns);
	bind_known(s, 4, wall_ns);
	bind_known(s, 5, model_run_int(q->run, "host.cpus"));
	sqlite3_bind_text(s, 6, model_run_str(q->run, "host.name"), -1, SQLITE_STATIC);
	bind_known(s, 7, model_run_int(q->run, "exit.code"));
	rc = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
	sqlite3_finalize(s);
	return rc;
}

int query_views_make(struct query *q)
{
	int rc = tell_run(q);

	if (rc == SQLITE_OK)
		rc = tell_tables(q);
	for (size_t i = 0; i < sizeof(views) / sizeof(*views) && rc == SQLITE_OK; i++)
		rc = run_sql(q, "CREATE VIEW %s AS %s", views[i].name, views[i].sql);
	return rc;
}

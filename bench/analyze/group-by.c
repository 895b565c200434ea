/*
 * Group-by on one core: the engine compared with sqlite3, on the same rows in the same process.
 *
 *   select call, count(*), sum(dur_ns) from io group by call
 *
 * The engine reads the run's compressed table; sqlite3 reads an in-memory table of these two columns. Times are CPU
 * time, the minimum of several rounds; the results are compared. `make` only creates a run.
 *
 *   group-by [million events [rounds]]
 *   group-by make DIR EVENTS
 */
#include "base/clock.h"
#include "base/fs.h"
#include "engine/plan.h"
#include "store/run-dir.h"
#include "synthetic.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "group-by: %s\n", what);
	exit(1);
}

/* A result: there are few calls. */
struct answer {
	int64_t call, count, sum;
};
enum { ANSWERS = 64 };

static size_t ask_engine(struct store_table *table, bool has_more, struct answer *answers)
{
	struct engine_query q = { "by call", 1, { STORE_IO_call }, ENGINE_NONE, 2,
		{ { ENGINE_COUNT, ENGINE_NONE }, { ENGINE_SUM, STORE_IO_dur_ns } } };
	struct engine_run_opts opts = { .threads = 1 };
	struct sonde_err err = SONDE_ERR_INIT;
	struct engine_plan *plan;
	const struct engine_groups *g;
	size_t count;

	if (has_more) {
		q.aggregates[q.aggregate_count++] = (struct engine_aggregate){ ENGINE_QUANTILES, STORE_IO_dur_ns };
		q.aggregates[q.aggregate_count++] = (struct engine_aggregate){ ENGINE_UNION, ENGINE_NONE };
	}
	if (engine_plan_new(&plan, &store_io_schema, &err) < 0 || engine_plan_query(plan, &q) < 0 ||
			engine_plan_run(plan, table, &opts, &err) < 0 || engine_plan_finish(plan, &err) < 0)
		die(err.text);
	g = engine_plan_groups(plan, 0);
	count = g->count < ANSWERS ? g->count : ANSWERS;
	for (size_t i = 0; i < count; i++)
		answers[i] = (struct answer){ engine_key(g, i, 0), (int64_t)engine_count(g, 0, i),
			engine_sum(g, 1, i) };
	engine_plan_free(plan);
	return count;
}

static int insert(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	sqlite3_stmt *s = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		sqlite3_bind_int64(s, 1, b->columns[STORE_IO_call].ints[i]);
		sqlite3_bind_int64(s, 2, b->columns[STORE_IO_dur_ns].ints[i]);
		if (sqlite3_step(s) != SQLITE_DONE)
			die("sqlite3 takes no row");
		sqlite3_reset(s);
	}
	return 0;
}

static sqlite3 *fill_sqlite(struct store_table *table)
{
	static const int cols[] = { STORE_IO_call, STORE_IO_dur_ns };
	struct store_scan_opts opts = { .cols = cols, .ncols = 2, .threads = 1 };
	sqlite3 *db;
	sqlite3_stmt *s;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
			sqlite3_exec(db, "create table io (call integer, dur_ns integer); begin", NULL, NULL, NULL) !=
					SQLITE_OK ||
			sqlite3_prepare_v2(db, "insert into io values (?, ?)", -1, &s, NULL) != SQLITE_OK)
		die("sqlite3 does not start");
	if (store_scan(table, &opts, insert, s, NULL) < 0)
		die("the table cannot be read");
	sqlite3_finalize(s);
	sqlite3_exec(db, "commit", NULL, NULL, NULL);
	return db;
}

static size_t ask_sqlite(sqlite3 *db, struct answer *answers)
{
	sqlite3_stmt *s;
	size_t n = 0;

	if (sqlite3_prepare_v2(db, "select call, count(*), sum(dur_ns) from io group by call order by call", -1, &s,
			    NULL) != SQLITE_OK)
		die("sqlite3 does not answer");
	while (sqlite3_step(s) == SQLITE_ROW && n < ANSWERS)
		answers[n++] = (struct answer){ sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1),
			sqlite3_column_int64(s, 2) };
	sqlite3_finalize(s);
	return n;
}

static int64_t least(int64_t a, int64_t b)
{
	return a == 0 || b < a ? b : a;
}

static void measure(struct store_table *table, unsigned rounds)
{
	struct answer ours[ANSWERS], more[ANSWERS], theirs[ANSWERS];
	double rows = (double)store_table_rows(table);
	int64_t engine_ns = 0, more_ns = 0, sqlite_ns = 0, start;
	sqlite3 *db = fill_sqlite(table);
	size_t n = 0;

	for (unsigned i = 0; i < rounds; i++) {
		start = clock_cpu_ns();
		n = ask_engine(table, false, ours);
		engine_ns = least(engine_ns, clock_cpu_ns() - start);
		start = clock_cpu_ns();
		ask_engine(table, true, more);
		more_ns = least(more_ns, clock_cpu_ns() - start);
		start = clock_cpu_ns();
		if (ask_sqlite(db, theirs) != n || memcmp(ours, theirs, n * sizeof(*ours)) != 0)
			die("the answers differ");
		sqlite_ns = least(sqlite_ns, clock_cpu_ns() - start);
	}
	sqlite3_close(db);
	printf("group by call, count and sum, %.1f M rows, one core, CPU time, best of %u\n", rows / 1e6, rounds);
	printf("  engine, from the compressed table      %7.1f M rows/s\n", rows * 1e3 / (double)engine_ns);
	printf("  the same with quantiles and union      %7.1f M rows/s\n", rows * 1e3 / (double)more_ns);
	printf("  sqlite3, from memory                   %7.1f M rows/s\n", rows * 1e3 / (double)sqlite_ns);
	printf("  ratio                                  %7.1f\n", (double)sqlite_ns / (double)engine_ns);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/sonde-bench.XXXXXX", run[64];
	struct sonde_err err = SONDE_ERR_INIT;
	struct store_run bundle = STORE_RUN_INIT;
	struct store_table *table;

	if (argc == 4 && strcmp(argv[1], "make") == 0) {
		if (synthetic_run(argv[2], strtoull(argv[3], NULL, 10), &err) < 0)
			die(err.text);
		return 0;
	}
	if (!mkdtemp(dir))
		die("no temporary directory");
	snprintf(run, sizeof(run), "%s/run", dir);
	if (synthetic_run(run, (uint64_t)((argc > 1 ? strtod(argv[1], NULL) : 10) * 1e6), &err) < 0 ||
			store_run_open(&bundle, run, &err) < 0 ||
			store_table_open(&table, bundle.tablesfd, "io", &err) < 0)
		die(err.text);
	measure(table, argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 5);
	store_table_free(table);
	store_run_release(&bundle);
	return fs_remove_tree(AT_FDCWD, dir) < 0;
}

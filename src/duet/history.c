#include "duet/history.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

enum { BUSY_MS = 10000 };

/* No write-ahead log: it would make the file unreadable for users without write permission to the directory. */
static const char schema[] =
		"PRAGMA journal_mode = DELETE;"
		"CREATE TABLE IF NOT EXISTS duet (id INTEGER PRIMARY KEY, at TEXT NOT NULL DEFAULT "
		"(strftime('%Y-%m-%dT%H:%M:%SZ', 'now')), name TEXT NOT NULL, label TEXT, metric TEXT NOT "
		"NULL, design TEXT NOT NULL, "
		"verdict TEXT NOT NULL, ratio REAL, lo REAL, hi REAL, runs INTEGER NOT NULL, a REAL, b REAL);";

static int wrong(sqlite3 *db, const char *path, struct sonde_err *err)
{
	int rc = err_set(err, EIO, "cannot use the history '%s': %s", path, sqlite3_errmsg(db));

	sqlite3_close(db);
	return rc;
}

static void bind_real(sqlite3_stmt *s, int at, double value)
{
	if (isfinite(value))
		sqlite3_bind_double(s, at, value);
	else
		sqlite3_bind_null(s, at);
}

static bool insert(sqlite3_stmt *s, const char *name, const char *label, const struct duet_report *r,
		const struct duet_entry *e)
{
	enum duet_metric metric = r->setup->pairing.metric;
	const struct duet_result *result = e->result;

	sqlite3_reset(s);
	sqlite3_bind_text(s, 1, e->name ? e->name : name, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, label, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 3, duet_metric_name(&r->setup->pairing), -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 4, duet_design_names[result->schedule.design], -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 5, stats_verdict_name(result->verdict), -1, SQLITE_STATIC);
	bind_real(s, 6, result->effect.ratio.estimate);
	bind_real(s, 7, result->effect.ratio.lo);
	bind_real(s, 8, result->effect.ratio.hi);
	sqlite3_bind_int64(s, 9, (sqlite3_int64)result->run_count);
	bind_real(s, 10, duet_metric_median(result->runs, result->run_count, DUET_A, metric));
	bind_real(s, 11, duet_metric_median(result->runs, result->run_count, DUET_B, metric));
	return sqlite3_step(s) == SQLITE_DONE;
}

int duet_history_add(const char *path, const char *name, const char *label, const struct duet_report *r,
		struct sonde_err *err)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	bool is_fine = sqlite3_open(path, &db) == SQLITE_OK && sqlite3_busy_timeout(db, BUSY_MS) == SQLITE_OK &&
			sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK &&
			sqlite3_prepare_v2(db,
					"INSERT INTO duet (name, label, metric, design, verdict, ratio, "
					"lo, hi, runs, a, b) "
					"VALUES (?,?,?,?,?,?,?,?,?,?,?)",
					-1, &s, NULL) == SQLITE_OK;

	for (size_t i = 0; i < r->count && is_fine; i++)
		is_fine = insert(s, name, label, r, &r->entries[i]);
	sqlite3_finalize(s);
	if (!is_fine)
		return wrong(db, path, err);
	sqlite3_close(db);
	return 0;
}

static double real_at(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
}

static const char *text_at(sqlite3_stmt *s, int column, struct arena *arena)
{
	const unsigned char *text = sqlite3_column_text(s, column);

	return text ? arena_strdup(arena, (const char *)text) : NULL;
}

/* Rows are sorted by series; the number of rows bounds the number of series. */
static int collect(sqlite3_stmt *s, struct duet_series *series, struct duet_point *points, size_t most, size_t *count,
		struct arena *arena)
{
	size_t used = 0;
	int got = SQLITE_DONE;

	while (used < most && (got = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = text_at(s, 0, arena), *metric = text_at(s, 1, arena);
		const struct duet_series *last = *count ? &series[*count - 1] : NULL;

		if (!name || !metric)
			return -ENOMEM;
		if (!last || strcmp(last->name, name) != 0 || strcmp(last->metric, metric) != 0)
			series[(*count)++] = (struct duet_series){ .name = name,
				.metric = metric,
				.points = points + used };
		points[used++] = (struct duet_point){ .at = text_at(s, 2, arena),
			.label = text_at(s, 3, arena),
			.verdict = text_at(s, 4, arena),
			.ratio = real_at(s, 5),
			.lo = real_at(s, 6),
			.hi = real_at(s, 7),
			.b = real_at(s, 8) };
		series[*count - 1].count++;
	}
	return got == SQLITE_ROW || got == SQLITE_DONE ? 0 : -EIO;
}

int duet_history_read(const char *path, struct duet_series **series, size_t *count, struct arena *arena,
		struct sonde_err *err)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *n = NULL, *s = NULL;
	struct duet_point *points;
	size_t most;
	int rc;

	*count = 0;
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
			sqlite3_busy_timeout(db, BUSY_MS) != SQLITE_OK ||
			sqlite3_prepare_v2(db, "SELECT count(*) FROM duet WHERE b > 0", -1, &n, NULL) != SQLITE_OK ||
			sqlite3_step(n) != SQLITE_ROW ||
			sqlite3_prepare_v2(db,
					"SELECT name, metric, at, label, verdict, ratio, lo, hi, b FROM "
					"duet WHERE b > 0 "
					"ORDER BY name, metric, id",
					-1, &s, NULL) != SQLITE_OK) {
		sqlite3_finalize(n);
		return wrong(db, path, err);
	}
	most = (size_t)sqlite3_column_int64(n, 0);
	sqlite3_finalize(n);
	*series = arena_alloc(arena, (most + 1) * sizeof(**series));
	points = arena_alloc(arena, (most + 1) * sizeof(*points));
	rc = *series && points ? collect(s, *series, points, most, count, arena) : -ENOMEM;
	sqlite3_finalize(s);
	sqlite3_close(db);
	if (rc)
		return err_sys(err, -rc, "cannot read the history '%s'", path);
	/* Changes of the level, among values that are present. */
	for (size_t i = 0; i < *count && !rc; i++) {
		struct duet_series *one = &(*series)[i];
		struct stats_changes how = { 0 };
		double *x = arena_alloc(arena, (one->count + 1) * sizeof(*x));

		for (size_t k = 0; x && k < one->count; k++)
			x[k] = log(one->points[k].b);
		rc = x ? stats_changepoints(x, one->count, &how, arena, &one->segments, &one->segment_count, err)
		       : err_sys(err, ENOMEM, "cannot read the history");
	}
	return rc;
}

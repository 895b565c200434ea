/* Running a query: prepare one statement, return its columns and rows, and note what is missing from them. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "query/pushdown.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Preparing. */

static int refuse(struct query *q, int rc, const char *sql, struct sonde_err *err)
{
	int at = sqlite3_error_offset(q->db);

	if (rc == SQLITE_AUTH) {
		err_set(err, EINVAL, "only SELECT is allowed: %s", sqlite3_errmsg(q->db));
		err_hint(err, "a statement may read (SELECT, WITH, VALUES) and change nothing");
	} else if (at >= 0 && (size_t)at <= strlen(sql)) {
		err_set(err, EINVAL, "%s, at character %d: '%.40s'", sqlite3_errmsg(q->db), at + 1, sql + at);
	} else {
		err_set(err, EINVAL, "%s", sqlite3_errmsg(q->db));
	}
	if (rc != SQLITE_AUTH && strstr(err->text, "no such"))
		err_hint(err, "list all with: SELECT kind, name, \"column\", meaning FROM tables");
	return -EINVAL;
}

static int prepare(struct query *q, const char *sql, sqlite3_stmt **s, struct sonde_err *err)
{
	const char *tail = NULL;
	sqlite3_stmt *more = NULL;
	int rc = sqlite3_prepare_v2(q->db, sql, -1, s, &tail);

	if (rc != SQLITE_OK)
		return refuse(q, rc, sql, err);
	if (!*s)
		return err_set(err, EINVAL, "no statement in '%.60s'", sql);
	while (rc == SQLITE_OK && !more && *tail) /* comments and empty statements are allowed */
		rc = sqlite3_prepare_v2(q->db, tail, -1, &more, &tail);
	if (rc != SQLITE_OK || more) {
		sqlite3_finalize(more);
		sqlite3_finalize(*s);
		return err_set(err, EINVAL, "more than one statement");
	}
	if (!sqlite3_stmt_readonly(*s) || !sqlite3_column_count(*s)) {
		sqlite3_finalize(*s);
		return err_set(err, EINVAL, "only SELECT is allowed");
	}
	return 0;
}

/* Running. */

static int give_columns(sqlite3_stmt *s, const struct query_sink *sink, struct arena *arena,
		struct query_value **values)
{
	size_t count = (size_t)sqlite3_column_count(s);
	const char **names = arena_alloc(arena, (count + 1) * sizeof(*names));
	struct map seen = MAP_INIT;
	int rc = 0;

	*values = arena_alloc(arena, (count + 1) * sizeof(**values));
	if (!names || !*values)
		return -ENOMEM;
	for (size_t i = 0; i < count && rc == 0; i++) {
		const char *name = sqlite3_column_name(s, (int)i);
		bool is_new = false;

		names[i] = arena_strdup(arena, name ? name : "");
		for (int n = 2; names[i] && !is_new; n++) {
			if (!map_put(&seen, names[i], strlen(names[i]), &is_new))
				rc = -ENOMEM;
			if (rc < 0 || is_new)
				break;
			names[i] = arena_printf(arena, "%s_%d", name ? name : "", n);
		}
		rc = names[i] ? rc : -ENOMEM;
	}
	map_release(&seen);
	return rc < 0 ? rc : sink->columns(sink->arg, names, count);
}

static void take_value(sqlite3_stmt *s, int i, struct query_value *v)
{
	int type = sqlite3_column_type(s, i);

	v->kind = QUERY_NULL;
	if (type == SQLITE_INTEGER) {
		v->kind = QUERY_INT;
		v->integer = sqlite3_column_int64(s, i);
	} else if (type == SQLITE_FLOAT && isfinite(sqlite3_column_double(s, i))) {
		v->kind = QUERY_REAL;
		v->real = sqlite3_column_double(s, i);
	} else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
		v->kind = type == SQLITE_TEXT ? QUERY_TEXT : QUERY_BLOB;
		v->text.data = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(s, i)
						   : sqlite3_column_blob(s, i);
		v->text.bytes = (size_t)sqlite3_column_bytes(s, i);
		if (!v->text.data)
			v->text = (struct store_text){ .data = "", .bytes = 0 };
	}
}

static int stop_reason(struct query *q, int rc, const struct query_limits *limits, struct sonde_err *err)
{
	if (query_is_late(q)) {
		err_set(err, ETIMEDOUT, "the statement was stopped after %.1f s, the limit",
				(double)limits->time_ns / 1e9);
		err_hint(err, "narrow it down (ts_ns BETWEEN ... AND ...), or raise the limit");
		return -ETIMEDOUT;
	}
	if (rc == SQLITE_NOMEM && limits->memory_bytes)
		return err_set(err, ENOMEM, "the statement needs more than %" PRIu64 " MiB of memory, the limit",
				limits->memory_bytes >> 20);
	return err_set(err, EINVAL, "%s", sqlite3_errmsg(q->db));
}

static int give_rows(struct query *q, sqlite3_stmt *s, const struct query_limits *limits, const struct query_sink *sink,
		struct query_value *values, struct query_end *end, struct sonde_err *err)
{
	int count = sqlite3_column_count(s), rc = 0, step = SQLITE_DONE;

	while (rc == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
		if (limits->rows && end->rows == limits->rows) {
			end->is_cut = true;
			return 0;
		}
		for (int i = 0; i < count; i++)
			take_value(s, i, &values[i]);
		rc = sink->row(sink->arg, values, (size_t)count);
		end->rows++;
	}
	return rc || step == SQLITE_DONE ? rc : stop_reason(q, step, limits, err);
}

/* The statement over groups that the engine has computed, or NULL: then SQLite answers the one that was asked. */
static sqlite3_stmt *push_down(struct query *q, const char *sql, int columns, struct pushdown *p)
{
	sqlite3_stmt *s = NULL;

	if (!pushdown_match(p, q, sql) || !pushdown_run(p))
		return NULL;
	q->pushdown = p;
	if (sqlite3_prepare_v2(q->db, p->sql.data, -1, &s, NULL) != SQLITE_OK || sqlite3_column_count(s) != columns) {
		sqlite3_finalize(s);
		return NULL;
	}
	q->pushed++;
	return s;
}

static void add_note(struct query_end *end, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add_note(struct query_end *end, const char *fmt, ...)
{
	size_t used = strlen(end->notes);
	va_list ap;

	if (used + 2 >= sizeof(end->notes))
		return;
	if (used)
		end->notes[used++] = '\n';
	va_start(ap, fmt);
	vsnprintf(end->notes + used, sizeof(end->notes) - used, fmt, ap);
	va_end(ap);
}

static void note_tables(struct query *q, struct query_end *end)
{
	for (size_t i = 0; i < q->table_count; i++) {
		struct store_loss loss = { .rows = 0 };

		if (!q->tables[i].is_asked)
			continue;
		if (!q->tables[i].table) {
			add_note(end, "the run has no table '%s': nothing of it was recorded",
					q->tables[i].schema->name);
			continue;
		}
		store_table_loss(q->tables[i].table, &loss);
		if (loss.rows || loss.blocks)
			add_note(end, "of the table '%s' is missing: %s", q->tables[i].schema->name, loss.text);
	}
}

int query_run(struct query *q, const char *sql, const struct query_limits *limits, const struct query_sink *sink,
		struct query_end *end, struct sonde_err *err)
{
	static const struct query_limits unlimited;
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;
	struct query_end ignored;
	struct query_value *values = NULL;
	CLEANUP(pushdown_release) struct pushdown pushdown = { .sql = BUF_INIT };
	sqlite3_stmt *s = NULL, *of_groups;
	int rc;

	limits = limits ? limits : &unlimited;
	end = end ? end : &ignored;
	*end = (struct query_end){ .rows = 0 };
	for (size_t i = 0; i < q->table_count; i++)
		q->tables[i].is_asked = false;
	q->deadline_ns = limits->time_ns ? clock_mono_ns() + limits->time_ns : 0;
	sqlite3_hard_heap_limit64((sqlite3_int64)limits->memory_bytes);
	rc = prepare(q, sql, &s, err);
	if (rc < 0)
		return rc;
	rc = give_columns(s, sink, &arena, &values);
	if (rc == -ENOMEM && !values)
		err_sys(err, ENOMEM, "cannot answer");
	of_groups = rc == 0 ? push_down(q, sql, sqlite3_column_count(s), &pushdown) : NULL;
	if (rc == 0)
		rc = query_is_late(q) ? stop_reason(q, SQLITE_INTERRUPT, limits, err)
				      : give_rows(q, of_groups ? of_groups : s, limits, sink, values, end, err);
	sqlite3_finalize(of_groups);
	sqlite3_finalize(s);
	q->pushdown = NULL;
	note_tables(q, end);
	return rc;
}

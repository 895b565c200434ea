/* Opening a run for questions, and answering one; see query.h. */
#include "query/query.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "query/private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_STEPS 1000 /* of SQLite's machine between looks at the clock */
#define RESULT_COLUMNS_MAX 2000

bool query_is_late(const struct query *q)
{
	return q->deadline_ns && clock_mono_ns() > q->deadline_ns;
}

static int on_progress(void *arg)
{
	return query_is_late(arg);
}

/* What tables refer to. */

struct query_table *query_table_find(struct query *q, const char *name)
{
	for (size_t i = 0; i < q->table_count; i++)
		if (sqlite3_stricmp(q->tables[i].schema->name, name) == 0)
			return &q->tables[i];
	return NULL;
}

static int gather_ids(struct query *q)
{
	for (size_t id = 1; id < model_name_count(q->run); id++) {
		const struct store_text *text = model_name(q->run, (int64_t)id);
		bool is_new;
		uint64_t *at = text ? map_put(&q->ids, text->data, text->bytes, &is_new) : NULL;

		if (text && !at)
			return -ENOMEM;
		if (!text)
			continue;
		q->has_same_texts |= !is_new;
		*at = id;
	}
	q->has_ids = true;
	return 0;
}

bool query_string_id(struct query *q, const char *text, size_t n, int64_t *id)
{
	const uint64_t *found;

	if ((!q->has_ids && gather_ids(q) < 0) || q->has_same_texts)
		return false;
	found = map_get(&q->ids, text, n);
	*id = found ? (int64_t)*found : STORE_NULL;
	return true;
}

struct model_stacks *query_stacks(struct query *q)
{
	struct sonde_err ignored;

	if (!q->stacks && model_stacks_open(&q->stacks, q->run, &ignored) < 0)
		q->stacks = NULL;
	return q->stacks;
}

int query_load_paths(struct query *q)
{
	struct sonde_err ignored;
	int rc = q->has_paths ? 0 : model_paths_load(q->run, &ignored);

	q->has_paths = rc == 0;
	return rc;
}

/* Opening. */

static int time_column(const struct store_schema *s)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->columns[i].semantic == STORE_TIME && s->columns[i].kind == STORE_INT)
			return (int)i;
	return -1;
}

static void take_table(struct query *q, const struct store_schema *schema, struct store_table *table)
{
	struct query_table *t = &q->tables[q->table_count];

	*t = (struct query_table){ .query = q, .schema = schema, .table = table, .time_column = time_column(schema) };
	q->table_count++;
	query_columns_make(t);
}

/* Names of tables and columns that only a file knows are hostile: they become part of SQL. */
static bool is_word(const char *name)
{
	return *name &&
			strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
			strlen(name) &&
			sqlite3_strnicmp(name, "sqlite_", 7) != 0;
}

static bool is_plain(const struct store_schema *s)
{
	bool is_fine = is_word(s->name) && s->count > 0;

	for (unsigned i = 0; i < s->count; i++)
		is_fine = is_fine && is_word(s->columns[i].name);
	return is_fine;
}

static int take_tables(struct query *q)
{
	size_t count;
	const struct model_table *others = model_tables(q->run, &count);

	q->tables = calloc(STORE_TABLE_COUNT + count, sizeof(*q->tables));
	if (!q->tables)
		return -ENOMEM;
	for (int id = 0; id < STORE_TABLE_COUNT; id++)
		take_table(q, store_schemas[id], model_table(q->run, (enum store_table_id)id));
	for (size_t i = 0; i < count; i++)
		if (others[i].table && is_plain(store_table_schema(others[i].table)) &&
				!query_table_find(q, store_table_schema(others[i].table)->name))
			take_table(q, store_table_schema(others[i].table), others[i].table);
	return 0;
}

static int create_tables(struct query *q)
{
	int rc = sqlite3_create_module(q->db, "run_table", &query_table_module, q);

	if (rc == SQLITE_OK)
		rc = sqlite3_create_module(q->db, "run_frames", &query_frame_module, q);
	for (size_t i = 0; i < q->table_count && rc == SQLITE_OK; i++) {
		char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING run_table", q->tables[i].schema->name);

		rc = sql ? sqlite3_exec(q->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(sql);
	}
	if (rc == SQLITE_OK && !query_table_find(q, "frame"))
		rc = sqlite3_exec(q->db, "CREATE VIRTUAL TABLE frame USING run_frames", NULL, NULL, NULL);
	return rc;
}

/* From here on it only reads. */
static int lock(struct query *q)
{
	static const int limits[][2] = { { SQLITE_LIMIT_LENGTH, (int)STORE_TEXT_BYTES_MAX + 4096 },
		{ SQLITE_LIMIT_SQL_LENGTH, 1 << 20 }, { SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_COLUMN, RESULT_COLUMNS_MAX }, { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 } };

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		sqlite3_limit(q->db, limits[i][0], limits[i][1]);
	sqlite3_db_config(q->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(q->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_progress_handler(q->db, PROGRESS_STEPS, on_progress, q);
	return sqlite3_set_authorizer(q->db, query_authorize, q);
}

int query_open(struct query **out, struct model_run *run, struct sonde_err *err)
{
	struct query *q = calloc(1, sizeof(*q));
	int rc;

	if (!q)
		return err_sys(err, ENOMEM, "cannot open the run for questions");
	q->run = run;
	arena_init(&q->arena);
	rc = model_load(run, MODEL_NAMES | MODEL_CALLS, err);
	if (rc == 0 && take_tables(q) < 0)
		rc = err_sys(err, ENOMEM, "cannot open the run for questions");
	if (rc == 0 &&
			(sqlite3_open_v2(":memory:", &q->db,
					 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
							 SQLITE_OPEN_NOMUTEX,
					 NULL) != SQLITE_OK ||
					create_tables(q) != SQLITE_OK || query_engine_register(q) != SQLITE_OK ||
					query_aggregate_register(q) != SQLITE_OK || query_views_make(q) != SQLITE_OK ||
					lock(q) != SQLITE_OK))
		rc = err_set(err, EIO, "cannot open the run for questions: %s", sqlite3_errmsg(q->db));
	if (rc < 0) {
		query_free(q);
		return rc;
	}
	*out = q;
	return 0;
}

void query_free(struct query *q)
{
	if (!q)
		return;
	sqlite3_close(q->db);
	for (size_t i = 0; i < q->table_count; i++)
		for (struct query_index *x = q->tables[i].indices; x; x = x->next)
			free(x->entries);
	free(q->tables);
	model_stacks_free(q->stacks);
	map_release(&q->ids);
	arena_release(&q->arena);
	free(q);
}

/* Preparing. */

static int refuse(struct query *q, int rc, const char *sql, struct sonde_err *err)
{
	int at = sqlite3_error_offset(q->db);

	if (rc == SQLITE_AUTH) {
		err_set(err, EINVAL, "only questions are answered: %s", sqlite3_errmsg(q->db));
		err_hint(err, "a statement may read (SELECT, WITH, VALUES) and change nothing");
	} else if (at >= 0 && (size_t)at <= strlen(sql)) {
		err_set(err, EINVAL, "%s, at character %d: '%.40s'", sqlite3_errmsg(q->db), at + 1, sql + at);
	} else {
		err_set(err, EINVAL, "%s", sqlite3_errmsg(q->db));
	}
	if (rc != SQLITE_AUTH && strstr(err->text, "no such"))
		err_hint(err, "what there is: SELECT kind, name, \"column\", meaning FROM tables");
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
		return err_set(err, EINVAL, "there is no statement in '%.60s'", sql);
	while (rc == SQLITE_OK && !more && *tail) /* comments and empty statements are fine */
		rc = sqlite3_prepare_v2(q->db, tail, -1, &more, &tail);
	if (rc != SQLITE_OK || more) {
		sqlite3_finalize(more);
		sqlite3_finalize(*s);
		return err_set(err, EINVAL, "there is more than one statement; one is answered at a time");
	}
	if (!sqlite3_stmt_readonly(*s) || !sqlite3_column_count(*s)) {
		sqlite3_finalize(*s);
		return err_set(err, EINVAL, "only questions are answered");
	}
	return 0;
}

/* Answering. */

static int give_columns(struct query *q, sqlite3_stmt *s, const struct query_sink *sink, struct arena *arena,
		struct query_value **values)
{
	size_t count = (size_t)sqlite3_column_count(s);
	const char **names = arena_alloc(arena, (count + 1) * sizeof(*names));
	struct map seen = MAP_INIT;
	int rc = 0;

	(void)q;
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
	sqlite3_stmt *s = NULL;
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
	rc = give_columns(q, s, sink, &arena, &values);
	if (rc == -ENOMEM && !values)
		err_sys(err, ENOMEM, "cannot answer");
	if (rc == 0)
		rc = give_rows(q, s, limits, sink, values, end, err);
	sqlite3_finalize(s);
	note_tables(q, end);
	return rc;
}

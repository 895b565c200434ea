/* Opening a run for queries. answer.c runs them. */
#include "query/query.h"

#include "base/clock.h"
#include "query/pushdown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_STEPS 1000 /* of SQLite's virtual machine between checks of the clock */
#define RESULT_COLUMNS_MAX 2000

bool query_is_late(const struct query *q)
{
	return q->deadline_ns && clock_mono_ns() > q->deadline_ns;
}

static int on_progress(void *arg)
{
	return query_is_late(arg);
}

/* Data that tables refer to. */

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

/* Names of tables and columns that come from a file are untrusted: they become part of SQL. */
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
	if (rc == SQLITE_OK)
		rc = sqlite3_create_module(q->db, PUSHDOWN_GROUPS, &query_groups_module, q);
	for (size_t i = 0; i < q->table_count && rc == SQLITE_OK; i++) {
		char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING run_table", q->tables[i].schema->name);

		rc = sql ? sqlite3_exec(q->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(sql);
	}
	if (rc == SQLITE_OK && !query_table_find(q, "frame"))
		rc = sqlite3_exec(q->db, "CREATE VIRTUAL TABLE frame USING run_frames", NULL, NULL, NULL);
	return rc;
}

/*
 * What a statement may do: read tables, call functions, recurse. Everything that is not listed is refused, including
 * what later versions of SQLite add.
 */

/* Read-only pragmas. */
static const char *const pragmas[] = { "table_info", "table_xinfo", "table_list" };
/* Functions with effects outside the statement. */
static const char *const functions[] = { "load_extension", "fts3_tokenizer", "readfile", "writefile", "edit" };

static bool is_among(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (word && sqlite3_stricmp(word, list[i]) == 0)
			return true;
	return false;
}

static int authorize(void *arg, int action, const char *a, const char *b, const char *db, const char *view)
{
	if (((const struct query *)arg)->is_declaring)
		return SQLITE_OK; /* SQLite declares the columns of a table function like those of a table */
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return is_among(b, functions, sizeof(functions) / sizeof(*functions)) ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		return is_among(a, pragmas, sizeof(pragmas) / sizeof(*pragmas)) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/* Allow only reading from here on. */
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
	return sqlite3_set_authorizer(q->db, authorize, q);
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

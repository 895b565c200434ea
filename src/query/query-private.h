/* query-private: shared by the parts of query/. Private to query/. */
#ifndef SONDE_QUERY_QUERY_PRIVATE_H
#define SONDE_QUERY_QUERY_PRIVATE_H

#include "base/arena.h"
#include "base/map.h"
#include "engine/plan.h"
#include "model/dimensions.h"
#include "model/stacks.h"
#include "query/query.h"

#include <sqlite3.h>

/* How a column of an SQL table is computed from the columns of a store table. */
enum query_how {
	HOW_INT,
	HOW_REAL,
	HOW_TEXT,
	HOW_WORDS,    /* NUL-terminated texts, as a JSON array */
	HOW_STRING,   /* the text of a string id */
	HOW_PATH,     /* the path of a file id */
	HOW_CATEGORY, /* the category of a call */
	HOW_KIND,     /* the kind of a call */
	HOW_BYTES,    /* bytes moved by a call */
	HOW_FUNCTION, /* the innermost function of a stack */
	HOWS
};

#define QUERY_COLUMNS_MAX 72 /* of a table: stored and computed */
#define QUERY_NEEDS_MAX 5

struct query_column {
	const char *name, *doc;
	enum query_how how;
	unsigned need_count;
	int needs[QUERY_NEEDS_MAX]; /* columns of the store */
};

/* Index of a small table by the value of a column. */
struct query_index {
	int column;
	size_t count;
	struct query_index_entry {
		int64_t value;
		uint32_t block, row;
	} * entries;
	struct query_index *next;
};

struct query_table {
	struct query *query;
	const struct store_schema *schema;
	struct store_table *table; /* NULL: not in the run */
	bool is_asked;             /* by the current statement */
	int time_column;           /* -1: none */
	unsigned column_count;
	struct query_column columns[QUERY_COLUMNS_MAX];
	struct query_index *indices;
};

struct query {
	struct model_run *run;
	sqlite3 *db;
	struct arena arena;
	struct query_table *tables;
	size_t table_count;
	struct model_stacks *stacks; /* loaded on first use */
	struct map ids;              /* string ids by text, loaded on first use */
	bool has_ids, has_same_texts, has_paths;
	bool is_declaring;               /* set while a table function is being declared */
	int64_t deadline_ns;             /* 0: none */
	const struct pushdown *pushdown; /* the groups of the current statement; NULL: it has none */
	uint64_t pushed;                 /* statements that the engine answered */
};

/* A column as a column of a plan of the engine; it must outlive the plan. */
struct query_source {
	const struct query_column *column; /* NULL: none */
	const struct model_run *run;
	int number; /* in the plan */
	bool is_real;
};

/* True if the time limit has passed. */
bool query_is_late(const struct query *q);
struct query_table *query_table_find(struct query *q, const char *name); /* NULL if unknown */
const struct query_column *query_column_find(const struct query_table *t, const char *name);
/* The string id of a text; STORE_NULL if it is not in the run. False if unknown. */
bool query_string_id(struct query *q, const char *text, size_t n, int64_t *id);
/* NULL if out of memory or damaged. */
struct model_stacks *query_stacks(struct query *q);
/* Load the paths of files. */
int query_load_paths(struct query *q);

/* vtab.c: the columns of a table, and the value of one. */
int query_columns_make(struct query_table *t);
const char *query_how_type(enum query_how how); /* "INTEGER" */
void query_column_result(sqlite3_context *ctx, struct query_table *t, const struct query_column *c,
		const struct store_batch *batch, size_t row);
void query_text_result(sqlite3_context *ctx, const struct store_text *text); /* valid as long as the run */

/* index.c: for a table of at most QUERY_INDEX_BLOCKS blocks; NULL if out of memory or damaged. */
#define QUERY_INDEX_BLOCKS 16
const struct query_index *query_index_of(struct query_table *t, int column);
/* The entries with this value: [*from, return). */
size_t query_index_find(const struct query_index *x, int64_t value, size_t *from);

/*
 * vtab.c: shared by all virtual tables. A table is declared by sql (NULL: out of memory) and stores a pointer to what
 * it shows; a cursor is initialized as a copy of one that has a sqlite3_vtab_cursor as its first member, and freed by
 * sqlite3_free.
 */
int query_vtab_connect(sqlite3 *db, const char *sql, void *what, sqlite3_vtab **out);
int query_vtab_disconnect(sqlite3_vtab *v);
void *query_vtab_what(sqlite3_vtab *v);
/* Fail the statement with the error "name: text". */
int query_vtab_fail(sqlite3_vtab *v, const char *name, const char *text);
int query_vtab_open(const void *cursor, size_t bytes, sqlite3_vtab_cursor **out);

/* A cursor over numbered rows starts with this; xFilter sets it, and these are its other methods. */
struct query_rows {
	sqlite3_vtab_cursor base;
	size_t at, count;
};
int query_rows_next(sqlite3_vtab_cursor *base);
int query_rows_eof(sqlite3_vtab_cursor *base);
int query_rows_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id);
int query_rows_close(sqlite3_vtab_cursor *base);

/*
 * vtab.c: set the number of a source whose column is set. Numbers and names are columns of the store,
 * bytes, kinds and paths derived ones; -ENOTSUP for other columns, -ENOMEM.
 */
int query_source_add(struct query_source *s, struct query *q, struct engine_plan *plan);
/* The value of a source in SQL. */
void query_source_result(sqlite3_context *ctx, const struct query_source *s, int64_t v);

/* Modules and functions. */
extern const sqlite3_module query_table_module, query_frame_module, query_groups_module;
int query_engine_register(struct query *q);    /* engine-vtab.c */
int query_aggregate_register(struct query *q); /* sql-aggregates.c */
int query_views_make(struct query *q);         /* views.c */

#endif

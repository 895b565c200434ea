/*
 * Shared by all virtual tables, and the columns of an SQL table: those of the store, with string ids as text, followed
 * by computed ones: paths, categories, kinds, bytes, functions.
 */
#include "base/json.h"
#include "engine/call-sums.h"
#include "query/query-private.h"

#include <errno.h>
#include <string.h>

struct vtab {
	sqlite3_vtab base;
	void *what;
};

int query_vtab_connect(sqlite3 *db, const char *sql, void *what, sqlite3_vtab **out)
{
	int rc = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
	struct vtab *v = rc == SQLITE_OK ? sqlite3_malloc64(sizeof(*v)) : NULL;

	if (!v)
		return rc == SQLITE_OK ? SQLITE_NOMEM : rc;
	*v = (struct vtab){ .what = what };
	*out = &v->base;
	return SQLITE_OK;
}

int query_vtab_disconnect(sqlite3_vtab *v)
{
	sqlite3_free(v);
	return SQLITE_OK;
}

void *query_vtab_what(sqlite3_vtab *v)
{
	return ((struct vtab *)v)->what;
}

int query_vtab_fail(sqlite3_vtab *v, const char *name, const char *text)
{
	sqlite3_free(v->zErrMsg);
	v->zErrMsg = sqlite3_mprintf("%s: %s", name, text);
	return SQLITE_ERROR;
}

int query_vtab_open(const void *cursor, size_t bytes, sqlite3_vtab_cursor **out)
{
	*out = sqlite3_malloc64(bytes);
	if (!*out)
		return SQLITE_NOMEM;
	memcpy(*out, cursor, bytes);
	return SQLITE_OK;
}

int query_rows_next(sqlite3_vtab_cursor *base)
{
	((struct query_rows *)base)->at++;
	return SQLITE_OK;
}

int query_rows_eof(sqlite3_vtab_cursor *base)
{
	const struct query_rows *rows = (struct query_rows *)base;

	return rows->at >= rows->count;
}

int query_rows_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((struct query_rows *)base)->at;
	return SQLITE_OK;
}

int query_rows_close(sqlite3_vtab_cursor *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

/* Columns. */

const char *query_how_type(enum query_how how)
{
	return how == HOW_INT || how == HOW_BYTES ? "INTEGER" : how == HOW_REAL ? "REAL" : "TEXT";
}

static enum query_how how_of(const struct store_schema *s, unsigned col)
{
	const struct store_column_schema *c = &s->columns[col];

	if (c->kind == STORE_INT)
		return c->semantic == STORE_STRING && strcmp(s->name, "string") != 0 ? HOW_STRING : HOW_INT;
	if (c->kind == STORE_REAL)
		return HOW_REAL;
	return strcmp(c->name, "argv") == 0 ? HOW_WORDS : HOW_TEXT;
}

static void add(struct query_table *t, const struct query_column *c)
{
	if (t->column_count < QUERY_COLUMNS_MAX && !query_column_find(t, c->name))
		t->columns[t->column_count++] = *c;
}

/* Computed columns, by the name of the column they are computed from. */
static const struct {
	const char *from;
	struct query_column made;
} made[] = {
	{ "file", { .name = "path", .doc = "path of the file", .how = HOW_PATH } },
	{ "file2", { .name = "path2", .doc = "path of the second file", .how = HOW_PATH } },
	{ "stack", { .name = "function", .doc = "innermost function of the stack", .how = HOW_FUNCTION } },
};

static void add_made(struct query_table *t)
{
	const struct store_schema *s = t->schema;

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		struct query_column c = made[i].made;
		int col = store_schema_column(s, made[i].from);

		if (col < 0 || s->columns[col].kind != STORE_INT || s->columns[col].semantic == STORE_PLAIN)
			continue;
		c.need_count = 1;
		c.needs[0] = col;
		add(t, &c);
	}
	if (s == &store_io_schema) {
		add(t,
				&(struct query_column){ "category", "category of the call", HOW_CATEGORY, 1,
						{ STORE_IO_call } });
		add(t,
				&(struct query_column){ "kind", "what the call does: read, write, copy, open, ...",
						HOW_KIND, 1, { STORE_IO_call } });
		add(t,
				&(struct query_column){ "bytes",
						"bytes that the call moved; null when it moves none or that is unknown",
						HOW_BYTES, 5,
						{ STORE_IO_call, STORE_IO_ret, STORE_IO_size, STORE_IO_arg0,
								STORE_IO_arg1 } });
	}
}

int query_columns_make(struct query_table *t)
{
	for (unsigned col = 0; col < t->schema->count; col++)
		add(t,
				&(struct query_column){ .name = t->schema->columns[col].name,
						.doc = t->schema->columns[col].doc,
						.how = how_of(t->schema, col),
						.need_count = 1,
						.needs = { (int)col } });
	add_made(t);
	return 0;
}

const struct query_column *query_column_find(const struct query_table *t, const char *name)
{
	for (unsigned i = 0; i < t->column_count; i++)
		if (sqlite3_stricmp(t->columns[i].name, name) == 0)
			return &t->columns[i];
	return NULL;
}

/* Values. */

void query_text_result(sqlite3_context *ctx, const struct store_text *text)
{
	if (!text || !text->data)
		sqlite3_result_null(ctx);
	else
		sqlite3_result_text64(ctx, text->data, text->bytes, SQLITE_STATIC, SQLITE_UTF8);
}

static void words_result(sqlite3_context *ctx, const struct store_text *text)
{
	struct buf out = BUF_INIT;
	struct json j;
	const char *at = text->data, *stop = at + text->bytes;

	json_init(&j, &out, false);
	json_array(&j);
	while (at < stop) {
		const char *end = memchr(at, '\0', (size_t)(stop - at));

		json_strn(&j, at, (size_t)((end ? end : stop) - at));
		at = end ? end + 1 : stop;
	}
	json_end(&j);
	if (buf_error(&out) < 0)
		sqlite3_result_error_nomem(ctx);
	else
		sqlite3_result_text64(ctx, out.data, out.len, SQLITE_TRANSIENT, SQLITE_UTF8);
	buf_release(&out);
}

static void function_result(sqlite3_context *ctx, struct query *q, int64_t stack)
{
	struct model_stacks *stacks = query_stacks(q);
	const struct model_frame *frames;

	if (!stacks || stack < 1 || (uint64_t)stack > model_stacks_count(stacks) ||
			!model_stack_place(stacks, stack, &frames))
		sqlite3_result_null(ctx);
	else
		sqlite3_result_text(ctx, model_frame_label(&frames[0]), -1, SQLITE_TRANSIENT);
}

static void path_result(sqlite3_context *ctx, struct query *q, int64_t file)
{
	struct store_text path = { .data = NULL };

	if (query_load_paths(q) == 0)
		path = model_path(q->run, model_known_number(q->run, file));
	query_text_result(ctx, &path);
}

static void int_result(sqlite3_context *ctx, int64_t v)
{
	if (v == STORE_NULL)
		sqlite3_result_null(ctx);
	else
		sqlite3_result_int64(ctx, v);
}

static void bytes_result(sqlite3_context *ctx, struct query *q, const struct query_column *c,
		const struct store_batch *b, size_t row)
{
	const struct model_call *call = model_call(q->run, b->columns[c->needs[0]].ints[row]);

	int_result(ctx,
			model_call_bytes(call, b->columns[c->needs[1]].ints[row], b->columns[c->needs[2]].ints[row],
					b->columns[c->needs[3]].ints[row], b->columns[c->needs[4]].ints[row]));
}

void query_column_result(sqlite3_context *ctx, struct query_table *t, const struct query_column *c,
		const struct store_batch *b, size_t row)
{
	const struct store_column *from = &b->columns[c->needs[0]];
	const struct model_call *call;

	switch (c->how) {
	case HOW_INT:
		int_result(ctx, from->ints[row]);
		break;
	case HOW_REAL:
		sqlite3_result_double(ctx, from->reals[row]); /* SQLite maps NaN to null */
		break;
	case HOW_TEXT:
	case HOW_WORDS:
		if (!from->texts[row].data)
			sqlite3_result_null(ctx);
		else if (c->how == HOW_WORDS)
			words_result(ctx, &from->texts[row]);
		else
			sqlite3_result_text64(ctx, from->texts[row].data, from->texts[row].bytes, SQLITE_TRANSIENT,
					SQLITE_UTF8);
		break;
	case HOW_STRING:
		query_text_result(ctx, model_name(t->query->run, from->ints[row]));
		break;
	case HOW_PATH:
		path_result(ctx, t->query, from->ints[row]);
		break;
	case HOW_CATEGORY:
		call = model_call(t->query->run, from->ints[row]);
		query_text_result(ctx, call ? call->category : NULL);
		break;
	case HOW_KIND:
		call = model_call(t->query->run, from->ints[row]);
		if (call)
			sqlite3_result_text(ctx, call_kind_word(call->kind), -1, SQLITE_STATIC);
		else
			sqlite3_result_null(ctx);
		break;
	case HOW_BYTES:
		bytes_result(ctx, t->query, c, b, row);
		break;
	default:
		function_result(ctx, t->query, from->ints[row]);
	}
}

/* Columns of a plan of the engine. */

static void fill_path(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct query_source *s = arg;
	const int64_t *files = rows->ints[s->column->needs[0]];

	for (size_t i = 0; i < rows->count; i++) {
		uint32_t number = model_known_number(s->run, files[i]);

		out[i] = number ? (int64_t)number : STORE_NULL;
	}
}

static void fill_kind(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct query_source *s = arg;

	for (size_t i = 0; i < rows->count; i++) {
		const struct model_call *call = model_call(s->run, rows->ints[STORE_IO_call][i]);

		out[i] = call ? (int64_t)call->kind : STORE_NULL;
	}
}

int query_source_add(struct query_source *s, struct query *q, struct engine_plan *plan)
{
	struct engine_derive d = { .arg = s, .need_count = 1, .needs = { s->column->needs[0] } };

	s->run = q->run;
	s->number = s->column->needs[0];
	s->is_real = s->column->how == HOW_REAL;
	switch (s->column->how) {
	case HOW_INT:
	case HOW_REAL:
	case HOW_STRING:
		return 0;
	case HOW_BYTES:
		s->number = engine_call_column(plan, q->run, ENGINE_CALL_BYTES);
		return s->number < 0 ? -ENOMEM : 0;
	case HOW_PATH:
	case HOW_KIND:
		d.fill = s->column->how == HOW_PATH ? fill_path : fill_kind;
		s->number = query_load_paths(q) < 0 ? -ENOMEM : engine_plan_derive(plan, &d);
		return s->number < 0 ? -ENOMEM : 0;
	default:
		return -ENOTSUP;
	}
}

void query_source_result(sqlite3_context *ctx, const struct query_source *s, int64_t v)
{
	struct store_text path;

	if (v == STORE_NULL)
		return;
	switch (s->column->how) {
	case HOW_STRING:
		query_text_result(ctx, model_name(s->run, v));
		break;
	case HOW_PATH:
		path = model_path(s->run, (uint32_t)v);
		query_text_result(ctx, &path);
		break;
	case HOW_KIND:
		sqlite3_result_text(ctx, call_kind_word((unsigned)v), -1, SQLITE_STATIC);
		break;
	default:
		sqlite3_result_int64(ctx, v);
	}
}

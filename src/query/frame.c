/*
 * The table `frame`: a row for each function of each call chain. With a constraint on `stack` only that chain is read
 * and symbolized.
 */
#include "query/query-private.h"

enum { COL_STACK, COL_DEPTH, COL_FUNCTION, COL_MODULE, COL_SOURCE, COL_LINE, COL_KERNEL, COL_INLINED };

struct cursor {
	sqlite3_vtab_cursor base;
	struct query *q;
	int64_t stack, last; /* current chain, and the last one */
	int64_t at;          /* current stack in it; STORE_NULL: at its end */
	size_t inlined, count;
	int64_t depth;
	const struct model_frame *frames;
};

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
	return query_vtab_connect(db,
			"CREATE TABLE x(stack INTEGER, depth INTEGER, function TEXT, module TEXT, source TEXT, "
			"line INTEGER, is_kernel INTEGER, is_inlined INTEGER)",
			aux, out);
}

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
	info->estimatedCost = 1e9;
	info->estimatedRows = 1000000;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];

		if (!c->usable || c->iColumn != COL_STACK || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->estimatedCost = 30;
		info->estimatedRows = 30;
		break;
	}
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
	return query_vtab_open(&(struct cursor){ .q = query_vtab_what(v) }, sizeof(struct cursor), out);
}

static int close_cursor(sqlite3_vtab_cursor *c)
{
	sqlite3_free(c);
	return SQLITE_OK;
}

static void start_chain(struct cursor *c)
{
	c->at = c->stack;
	c->inlined = c->count = 0;
	c->depth = -1;
}

/* Advance to the next frame; stack beyond last: the end. */
static int walk(struct cursor *c)
{
	while (c->stack <= c->last) {
		if (++c->inlined < c->count) {
			c->depth++;
			return SQLITE_OK;
		}
		if (c->count)
			c->at = model_stack_parent(c->q->stacks, c->at);
		if (c->at == STORE_NULL) {
			if (query_is_late(c->q))
				return SQLITE_INTERRUPT;
			c->stack++;
			start_chain(c);
			if (c->stack > c->last)
				break;
		}
		c->count = model_stack_place(c->q->stacks, c->at, &c->frames);
		c->inlined = 0;
		if (c->count) {
			c->depth++;
			return SQLITE_OK;
		}
		c->at = STORE_NULL;
	}
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct model_stacks *stacks = query_stacks(c->q);

	c->stack = 1;
	c->last = stacks ? (int64_t)model_stacks_count(stacks) : 0;
	if (number == 1 && argc == 1) {
		int64_t one = sqlite3_value_type(argv[0]) == SQLITE_NULL ? 0 : sqlite3_value_int64(argv[0]);

		c->stack = one >= 1 && one <= c->last ? one : 1;
		c->last = one >= 1 && one <= c->last ? one : 0;
	}
	start_chain(c);
	return walk(c);
}

static int next(sqlite3_vtab_cursor *base)
{
	return walk((struct cursor *)base);
}

static int eof(sqlite3_vtab_cursor *base)
{
	const struct cursor *c = (struct cursor *)base;

	return c->stack > c->last;
}

static void text_result(sqlite3_context *ctx, const char *text)
{
	if (text)
		sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_result_null(ctx);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	const struct cursor *c = (struct cursor *)base;
	const struct model_frame *f = &c->frames[c->inlined];

	if (i == COL_FUNCTION)
		text_result(ctx, model_frame_label(f));
	else if (i == COL_MODULE)
		text_result(ctx, f->module);
	else if (i == COL_SOURCE)
		text_result(ctx, f->source);
	else
		sqlite3_result_int64(ctx,
				i == COL_STACK                    ? c->stack
						: i == COL_DEPTH  ? c->depth
						: i == COL_LINE   ? f->line
						: i == COL_KERNEL ? f->is_kernel
								  : f->is_inlined);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	const struct cursor *c = (struct cursor *)base;

	*id = c->stack << 20 | (c->depth & 0xfffff);
	return SQLITE_OK;
}

const sqlite3_module query_frame_module = {
	.xCreate = connect,
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = query_vtab_disconnect,
	.xDestroy = query_vtab_disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = eof,
	.xColumn = column,
	.xRowid = rowid,
};

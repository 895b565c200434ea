#include "exchange/join.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "model/dimensions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_OF_PROCESS 32 /* bits: a file id is that of a path, or the process that opened it and a number */

/* How a join changes a column, if its semantic does not determine it. */
enum meaning { RAISE_PID, RAISE_MODULE, RAISE_FLOW };

static const struct {
	const char *column;
	enum meaning meaning;
} meanings[] = {
	{ "pid", RAISE_PID },
	{ "tid", RAISE_PID },
	{ "ppid", RAISE_PID },
	{ "waker_pid", RAISE_PID },
	{ "waker_tid", RAISE_PID },
	{ "module", RAISE_MODULE },
	{ "flow", RAISE_FLOW },
};

struct joining {
	struct join *j;
	const struct join_host *host;
	int64_t *strings; /* old id -> new id; 0: not looked up yet */
	size_t string_count;
	int64_t processes, paths, stacks, modules, flows; /* the largest */
};

void join_init(struct join *j, struct store_sink *sink)
{
	*j = (struct join){ .sink = sink };
}

void join_release(struct join *j)
{
	map_release(&j->once);
}

static int64_t largest(int64_t *max, int64_t v)
{
	*max = v > *max ? v : *max;
	return v;
}

/* A column whose meaning only its name has. */
static int64_t translate_named(struct joining *g, const struct store_column_schema *c, int64_t v)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++) {
		if (strcmp(c->name, meanings[i].column) != 0)
			continue;
		if (meanings[i].meaning == RAISE_PID)
			return v > 0 ? v + g->j->hosts * JOIN_PIDS : v; /* 0 is an idle CPU */
		if (meanings[i].meaning == RAISE_FLOW)
			return largest(&g->flows, v) + g->j->flows;
		return largest(&g->modules, v) + g->j->modules;
	}
	return v;
}

static int64_t translate(struct joining *g, const struct store_column_schema *c, int64_t v)
{
	if (v == STORE_NULL)
		return v;
	switch (c->semantic) {
	case STORE_TIME:
		return clock_fit_ours(&g->host->clock, v);
	case STORE_STRING:
		if (v < 1 || (uint64_t)v >= g->string_count)
			return STORE_NULL;
		if (!g->strings[v]) {
			const struct store_text *t = model_name(g->host->run, v);
			g->strings[v] = t ? store_strings_id(&g->j->sink->strings, t->data, t->bytes) : STORE_NULL;
		}
		return g->strings[v];
	case STORE_FILE:
		if (v >> FILE_OF_PROCESS)
			return v + (g->j->processes << FILE_OF_PROCESS);
		return v > 0 ? largest(&g->paths, v) + g->j->paths : v;
	case STORE_PROCESS:
		return largest(&g->processes, v) + g->j->processes;
	case STORE_STACK:
		return largest(&g->stacks, v) + g->j->stacks;
	default:
		return translate_named(g, c, v);
	}
}

/* The name of the host distinguishes the machine's counters. */
static int64_t with_host(struct joining *g, int64_t name)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *old = model_cname(g->host->run, name);
	buf_addf(&text, "%s:%s", g->host->name, old ? old : "?");
	return store_strings_id(&g->j->sink->strings, text.data, text.len);
}

/* Returns whether the row is already there, by the first column of these tables. */
static bool is_known(struct joining *g, enum store_table_id table, int64_t id)
{
	int64_t key[2] = { table, id };
	bool is_new = false;
	map_put(&g->j->once, key, sizeof(key), &is_new);
	return !is_new;
}

static void add_row(struct joining *g, enum store_table_id table, int64_t *row)
{
	const struct store_schema *s = store_schemas[table];
	int64_t name = row[table == STORE_TABLE_COUNTER ? STORE_COUNTER_name : STORE_SERIES_name];
	for (unsigned i = 0; i < s->count; i++)
		if (s->columns[i].kind == STORE_INT)
			row[i] = translate(g, &s->columns[i], row[i]);
	if (table == STORE_TABLE_COUNTER && row[STORE_COUNTER_pid] == STORE_NULL)
		row[STORE_COUNTER_name] = with_host(g, name);
	if ((table == STORE_TABLE_CALL || table == STORE_TABLE_SERIES) && is_known(g, table, row[0]))
		return;
	store_sink_add(g->j->sink, table, row);
	if (table == STORE_TABLE_SERIES) {
		row[STORE_SERIES_name] = with_host(g, name);
		store_sink_add(g->j->sink, table, row);
	}
}

int join_add(struct join *j, const struct join_host *host, struct sonde_err *err)
{
	struct joining g = { .j = j, .host = host };
	int rc = model_load(host->run, MODEL_NAMES, err);
	if (rc)
		return rc;
	g.string_count = model_name_count(host->run);
	g.strings = calloc(g.string_count + 1, sizeof(*g.strings));
	if (!g.strings)
		return err_sys(err, ENOMEM, "cannot join runs");
	for (int table = 0; table < STORE_TABLE_COUNT; table++)
		if (table != STORE_TABLE_STRING && table != STORE_TABLE_DEFINE) {
			struct store_table *t = model_table(g.host->run, (enum store_table_id)table);
			struct store_batch batch = STORE_BATCH_INIT;
			int64_t row[STORE_COLUMNS_MAX];
			for (size_t b = 0; t && b < store_table_blocks(t); b++) {
				if (store_block_load(t, b, NULL, 0, &batch, NULL))
					continue;
				for (size_t i = 0; i < batch.rows; i++) {
					store_batch_row(&batch, i, row);
					add_row(&g, (enum store_table_id)table, row);
				}
			}
			store_batch_release(&batch);
		}
	j->processes += g.processes;
	j->paths += g.paths;
	j->stacks += g.stacks;
	j->modules += g.modules;
	j->flows += g.flows;
	j->hosts++;
	free(g.strings);
	return 0;
}

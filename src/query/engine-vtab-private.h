/*
 * engine-vtab-private: shared by the parts of the table functions. A row of `engine_kinds` is a function, a cursor is
 * one call of it. Private to query/.
 */
#ifndef SONDE_QUERY_ENGINE_VTAB_PRIVATE_H
#define SONDE_QUERY_ENGINE_VTAB_PRIVATE_H

#include "query/query-private.h"

enum engine_kind { KIND_STATS, KIND_QUANTILE, KIND_UNION, KIND_BUCKETS, KINDS };
enum argument { ARG_TABLE, ARG_COLUMN, ARG_P, ARG_N, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO, ARGUMENTS };

struct engine_function {
	const char *name, *columns;
	unsigned shown; /* columns before the hidden ones */
	unsigned argument_count;
	enum argument arguments[8];
};

extern const struct engine_function engine_kinds[KINDS];

/* A table function of an open run. */
struct engine_module {
	struct query *q;
	enum engine_kind kind;
};

struct engine_cursor {
	sqlite3_vtab_cursor base;
	const struct engine_module *module;
	sqlite3_value *arguments[ARGUMENTS];
	struct query_table *t;
	struct query_source value, keys[ENGINE_KEYS_MAX];
	unsigned key_count;
	unsigned sum; /* the aggregate of the column `sum` */
	double p;
	int64_t start_ns, width_ns; /* of buckets */
	struct engine_plan *plan;
	const struct engine_groups *groups;
	size_t at;
};

/* engine-vtab-plan.c: translate the arguments to a plan and run it. Returns an SQLite result code. */
int engine_call(struct engine_cursor *c);
/* engine-vtab-read.c: the value of column i of the current group, for columns that are not hidden. */
void engine_group_result(sqlite3_context *ctx, const struct engine_cursor *c, int i);

#endif

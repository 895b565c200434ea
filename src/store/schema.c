/*
 * Define the descriptors declared by the X-macros of schema.h, and find them by name.
 */
#include "store/schema.h"

#include <string.h>

#define COLUMN(P, k, n, s, d) { .name = #n, .doc = d, .kind = STORE_##k, .semantic = STORE_##s },
#define NULL_INT STORE_NULL
#define NULL_REAL STORE_NULL_REAL
#define NULL_TEXT NULL
#define NULL_FIELD(P, kind, n, s, d) .n = NULL_##kind,
#define DEFINE(n, N, v, d) \
	static const struct store_column_schema n##_columns[] = { STORE_COLUMNS_##N(COLUMN, N) }; \
	const struct store_schema store_##n##_schema = { .name = #n, \
		.doc = d, \
		.version = v, \
		.count = STORE_##N##_COLUMNS, \
		.columns = n##_columns }; \
	const struct store_##n store_##n##_nulls = { STORE_COLUMNS_##N(NULL_FIELD, N) };

STORE_TABLES(DEFINE)

#define LIST(n, N, v, d) &store_##n##_schema,
const struct store_schema *const store_schemas[STORE_TABLE_COUNT] = { STORE_TABLES(LIST) };

const struct store_schema *store_schema_find(const char *name)
{
	for (size_t i = 0; i < STORE_TABLE_COUNT; i++)
		if (strcmp(store_schemas[i]->name, name) == 0)
			return store_schemas[i];
	return NULL;
}

int store_schema_column(const struct store_schema *s, const char *name)
{
	for (unsigned i = 0; i < s->count; i++)
		if (strcmp(s->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

const char *store_kind_word(enum store_kind kind)
{
	static const char *const words[] = { "?", "int", "real", "text" };
	return kind <= STORE_TEXT ? words[kind] : words[0];
}

/*
 * What a statement may do: read tables, call functions, recurse. Everything
 * that is not listed is refused, so what later versions of SQLite add is too.
 */
#include "query/query-private.h"

/* Pragmas that only tell. */
static const char *const pragmas[] = { "table_info", "table_xinfo", "table_list" };
/* Functions that reach out of the statement. */
static const char *const functions[] = { "load_extension", "fts3_tokenizer", "readfile", "writefile", "edit" };

static bool is_among(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (word && sqlite3_stricmp(word, list[i]) == 0)
			return true;
	return false;
}

int query_authorize(void *arg, int action, const char *a, const char *b, const char *db, const char *view)
{
	(void)db, (void)view;
	if (((const struct query *)arg)->is_declaring)
		return SQLITE_OK; /* SQLite asks about the shape of a table function as if it were a table */
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

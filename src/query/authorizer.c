/*
 * What a statement may do: read tables, call functions, recurse. Everything that is not listed is refused, including
 * what later versions of SQLite add.
 */
#include "query/query-private.h"

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

int query_authorize(void *arg, int action, const char *a, const char *b, const char *db, const char *view)
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

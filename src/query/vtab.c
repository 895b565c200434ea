/* Shared by all virtual tables; see query-private.h. */
#include "query/query-private.h"

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

/* What calls do, by their category and name; see columns.h. */
#include "analyze/kinds.h"

#include <string.h>

#define KIND_WORD(NAME, word) #word,
static const char *const words[KINDS] = { ANALYZE_KINDS(KIND_WORD) };

const char *analyze_kind_word(int64_t kind)
{
	return kind >= 0 && kind < KINDS ? words[kind] : "unknown";
}

/* The first row that fits wins. category NULL: any; part "": any. */
static const struct {
	const char *category, *part;
	enum analyze_kind kind;
} rows[] = {
	{ "net", "close", KIND_CLOSE },
	{ "net", "", KIND_NET },
	{ "process", "", KIND_PROCESS },
	{ "map", "", KIND_MAP },
	{ "sync", "", KIND_SYNC },
	{ "dir", "", KIND_DIR },
	{ NULL, "close", KIND_CLOSE },
	{ "open", "", KIND_OPEN },
	{ "stdio", "open", KIND_OPEN },
	{ "meta", "stat", KIND_STAT },
	{ "meta", "access", KIND_STAT },
	{ "meta", "seek", KIND_SEEK },
	{ "meta", "", KIND_META },
	{ NULL, "seek", KIND_SEEK },
	{ NULL, "tell", KIND_SEEK },
	{ NULL, "rewind", KIND_SEEK },
	{ NULL, "sync", KIND_SYNC },
	{ NULL, "flush", KIND_SYNC },
	{ NULL, "write", KIND_WRITE },
	{ NULL, "put", KIND_WRITE },
	{ NULL, "printf", KIND_WRITE },
	{ NULL, "splice", KIND_WRITE },
	{ NULL, "sendfile", KIND_WRITE },
	{ NULL, "copy_file_range", KIND_WRITE },
	{ NULL, "readdir", KIND_DIR },
	{ NULL, "readlink", KIND_STAT },
	{ NULL, "read", KIND_READ },
	{ NULL, "get", KIND_READ },
	{ NULL, "scanf", KIND_READ },
	{ NULL, "open", KIND_OPEN },
	{ NULL, "stat", KIND_STAT },
	{ NULL, "fork", KIND_PROCESS },
};

enum analyze_kind analyze_kind(const char *category, const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if ((!rows[i].category || (category && strcmp(category, rows[i].category) == 0)) &&
				strstr(name, rows[i].part))
			return rows[i].kind;
	return KIND_OTHER;
}

/* around: the application's words and variables with those of the tools that are put around it. */
#ifndef SONDE_SESSION_TOOL_WRAP_H
#define SONDE_SESSION_TOOL_WRAP_H

#include "base/arena.h"
#include "record/record.h"
#include "session/spec.h"

struct tool_wrap {
	char **argv; /* the first tool's words are outermost */
	const char *env[RECORD_ENV_MAX + 1];
};

/* What it points to is in the arena; -ENOENT: a tool is not there. */
int tool_wrap_apply(struct tool_wrap *w, const struct session_spec *s, const struct companion *tools, char *const *argv,
		const char *const *env, struct arena *arena, struct sonde_err *err);
/* A word with text for the name that stands in it; text NULL: as it is. NULL: no memory. */
char *tool_wrap_replace(const char *word, const char *name, const char *text, struct arena *arena);

size_t tool_wrap_count(const char *const *words); /* up to the NULL; NULL has none */

#endif

/* tool-wrap: the application's command line and environment with those of the wrapping tools. */
#ifndef SONDE_SESSION_TOOL_WRAP_H
#define SONDE_SESSION_TOOL_WRAP_H

#include "base/arena.h"
#include "record/record.h"
#include "session/spec.h"

struct tool_wrap {
	char **argv; /* the words of the first tool come first */
	const char *env[RECORD_ENV_MAX + 1];
};

/* Allocates from the arena; -ENOENT: a tool is not installed. */
int tool_wrap_apply(struct tool_wrap *w, const struct session_spec *s, const struct companion *tools, char *const *argv,
		const char *const *env, struct arena *arena, struct sonde_err *err);
/* Replaces `name` in a word by text; text NULL: unchanged. NULL: out of memory. */
char *tool_wrap_replace(const char *word, const char *name, const char *text, struct arena *arena);

size_t tool_wrap_count(const char *const *words); /* up to the NULL; 0 for NULL */

#endif

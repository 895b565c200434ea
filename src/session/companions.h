/*
 * companions: processes that run alongside the application: companions that it needs, which must be ready before it
 * starts, and profiling tools, which leave their files in the run directory.
 */
#ifndef SONDE_SESSION_COMPANIONS_H
#define SONDE_SESSION_COMPANIONS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "launch/job.h"
#include "record/record.h"

#include <stddef.h>
#include <stdint.h>

#define COMPANIONS_MAX 8

struct companion_spec {
	const char *name;
	const char **command;   /* of a tool: NULL if it wraps the application */
	const char **tool_wrap; /* of a tool: words before the application's; {tool} is replaced by its directory */
	const char **env;       /* of a wrapping tool: NAME=value, for the application; NULL: none */
	/* A companion is ready when all conditions that are given hold. */
	int64_t port;             /* a process listens on this loopback port; 0: not checked */
	const char *file;         /* exists */
	const char **check;       /* a command that exits with 0 */
	int64_t ready_timeout_ns; /* 0: 30 s */
};

struct companion {
	struct job *jobs[COMPANIONS_MAX];
	size_t count;
	char dir[512]; /* of tools: parent of their directories; "" for companions */
};

/* Starts all of them; on failure stops those that were started. */
int companions_start(struct companion *b, const struct companion_spec *specs, size_t count, struct sonde_err *err);
int tools_start(struct companion *b, const struct companion_spec *specs, size_t count, struct sonde_err *err);
void companion_end(struct companion *b); /* sends SIGINT, then SIGTERM, then SIGKILL */
/* The directory of a tool, valid until tools_collect. */
void tools_dir(const struct companion *b, const struct companion_spec *s, struct buf *dir);
/* Moves the files of the tools to RUN/tools/NAME. */
int tools_collect(struct companion *b, const char *run, struct sonde_err *err);
void tools_drop(struct companion *b); /* removes them, if the run failed */

/* The command line and environment of the application, with those of the tools that wrap it. */

struct session_spec;

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

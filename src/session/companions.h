/*
 * beside: what runs beside an application: companions that it needs, which must be ready
 * before it starts, and tools that look at it, whose files join the run.
 */
#ifndef SONDE_SESSION_COMPANIONS_H
#define SONDE_SESSION_COMPANIONS_H

#include "base/buf.h"
#include "base/err.h"
#include "launch/job.h"

#include <stddef.h>
#include <stdint.h>

#define COMPANIONS_MAX 8

struct companion_spec {
	const char *name;
	const char **command;   /* of a tool: NULL when it is put around the application */
	const char **tool_wrap; /* of a tool: words before the application's; {tool} stands for its directory */
	const char **env;       /* of a tool that is put around: NAME=value, for the application; NULL: none */
	/* A companion is ready when all that are given are so. */
	int64_t port;             /* somebody listens on this port of loopback; 0: not asked */
	const char *file;         /* is there */
	const char **check;       /* a command ends with 0 */
	int64_t ready_timeout_ns; /* 0: 30 s */
};

struct companion {
	struct job *jobs[COMPANIONS_MAX];
	size_t count;
	char dir[512]; /* of tools: a directory each, within; "" for companions */
};

/* All of them; on failure those that were started are ended. */
int companions_start(struct companion *b, const struct companion_spec *specs, size_t count, struct sonde_err *err);
int tools_start(struct companion *b, const struct companion_spec *specs, size_t count, struct sonde_err *err);
void companion_end(struct companion *b); /* asked by INT, then TERM, then KILL */
/* The directory of a tool, until they are collected. */
void tools_dir(const struct companion *b, const struct companion_spec *s, struct buf *dir);
/* Move what tools have written to RUN/tools/NAME. */
int tools_collect(struct companion *b, const char *run, struct sonde_err *err);
void tools_drop(struct companion *b); /* there is no run for it */

#endif

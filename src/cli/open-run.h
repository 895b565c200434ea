/*
 * open-run: the run that a command works on, and its output.
 */
#ifndef SONDE_CLI_OPEN_RUN_H
#define SONDE_CLI_OPEN_RUN_H

#include "base/buf.h"
#include "cli/cli.h"
#include "model/run-model.h"

/* The positional row of commands that read a run. */
#define CLI_RUN_POSITIONAL \
	{ \
		.name = "RUN", .min = 0, .max = 1, .type = CLI_TYPE_RUN, \
		.help = "Run directory or name (default: latest), or the ring directory of programs that ran " \
			"without a recorder." \
	}

/* The same for commands that do not support ring directories. */
#define CLI_BUNDLE_POSITIONAL \
	{ \
		.name = "RUN", .min = 0, .max = 1, .type = CLI_TYPE_RUN, \
		.help = "Run directory or name (default: latest)." \
	}

/* Opens the first argument, or the latest run. The caller frees it. */
int cli_open_run(struct cli_context *ctx, struct model_run **run);
/* Replaces run.json in the directory: the format's version, then the members of the object. */
struct json_t;
int cli_write_run_json(int dirfd, const struct json_t *members, struct sonde_err *err);
/* Converts times since the start of the run to [*from_ns, *to_ns) on its clock; to 0: no end. */
void cli_run_range(const struct model_run *run, int64_t from, int64_t to, int64_t *from_ns, int64_t *to_ns);

/*
 * Buffered standard output for commands that write much. Bytes are collected in `text` and written in large chunks. A
 * closed pipe (`| head`) is not an error: out_is_over then returns true, and the command stops with success.
 */
struct out {
	struct buf text; /* append here */
	/* private */
	int error;
};

#define OUT_INIT { .text = BUF_INIT }

void out_init(struct out *o); /* ignores SIGPIPE from here on */
void out_release(struct out *o);
/* Writes if the buffer is large; returns true if further output is useless (closed pipe or error). */
bool out_is_over(struct out *o);
/* Writes the rest. Returns 0 if the pipe was closed. */
int out_finish(struct out *o, struct sonde_err *err);

#endif

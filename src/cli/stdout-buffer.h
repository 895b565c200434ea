/*
 * stdout-buffer: buffered standard output for commands that write much.
 *
 * Bytes are collected in `text` and written in large chunks. A closed pipe (`| head`) is not an error: out_is_over
 * then returns true, and the command stops with success.
 */
#ifndef SONDE_CLI_STDOUT_BUFFER_H
#define SONDE_CLI_STDOUT_BUFFER_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

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

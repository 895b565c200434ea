/*
 * out: standard output for commands that write much.
 *
 * Bytes gather in `text` and go out in large pieces. A reader that goes away
 * (`| head`) is no failure: out_is_over then says that nobody listens, and the
 * command stops and is fine.
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

void out_init(struct out *o); /* from here on a closed pipe is no signal */
void out_release(struct out *o);
/* Write if there is much; true when there is no use in going on. */
bool out_is_over(struct out *o);
/* Write the rest. A reader that went away is 0. */
int out_finish(struct out *o, struct sonde_err *err);

#endif

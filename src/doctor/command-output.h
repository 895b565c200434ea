/*
 * command-output: the output of a short-lived command, with a limit on time and size.
 */
#ifndef SONDE_DOCTOR_COMMAND_OUTPUT_H
#define SONDE_DOCTOR_COMMAND_OUTPUT_H

#include "base/buf.h"

/* Runs argv (argv[0] is a path) with environment env and empty stdin; appends stdout and stderr to out. Kills it
 * after timeout_ms. Returns 0, -errno if it could not be started, -ETIMEDOUT, or -EIO if it failed. */
int capture(char *const argv[], char *const env[], int timeout_ms, struct buf *out);

#endif

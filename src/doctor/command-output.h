/*
 * capture: what a short-lived program prints, with a limit on time and size.
 */
#ifndef SONDE_DOCTOR_COMMAND_OUTPUT_H
#define SONDE_DOCTOR_COMMAND_OUTPUT_H

#include "base/buf.h"

/* Run argv (argv[0] is a path) with environment env and stdin empty; stdout and stderr are appended to out. After
 * timeout_ms it is killed. Returns 0, or -errno when it could not be run, -ETIMEDOUT, or -EIO when it failed. */
int capture(char *const argv[], char *const env[], int timeout_ms, struct buf *out);

#endif

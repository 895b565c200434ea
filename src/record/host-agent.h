/*
 * hostagent: what runs on each host of a recording of several, started over a remote shell.
 *
 * The words of a command line over a remote shell may pass a shell or may not, so they are
 * plain ones: "sonde host agent" speaks the lines below on stdin and stdout; it gets the
 * command, whatever its characters, through them, and leaves it in a directory of its own;
 * "sonde host run DIR", over a second connection, becomes that command, so that its stdout
 * and stderr are the program's alone.
 *
 *   (greeting)              sonde-host 1
 *   time                    time MONOTONIC_NS
 *   prepare BYTES + bytes   dir DIR          words, each ended by a NUL: where to go, sonde,
 *                                            and what follows "record --output=DIR/run"
 *   signal NUMBER           ok               for the recorder
 *   lives PID               lives 0 or 1     does that process live on the host?
 *   send                    file NAME BYTES + bytes ... end
 *   bye                     ok               the directory is removed
 *
 * or "error SENTENCE". The end of stdin ends the recorder too, and removes the directory.
 */
#ifndef SONDE_RECORD_HOST_AGENT_H
#define SONDE_RECORD_HOST_AGENT_H

#include "base/err.h"

#define HOST_GREETING "sonde-host 1"
#define HOST_RUN "run" /* the bundle in the directory */
#define HOST_COMMAND_BYTES_MAX ((size_t)4 << 20)

int host_agent(int in, int out, struct sonde_err *err);
/* Become what was prepared in `dir`; returns only when that fails. */
int host_run(const char *dir, struct sonde_err *err);

#endif

/*
 * host-agent: runs on each host of a multi-host recording, started over a remote shell.
 *
 * A remote shell may or may not expand its command line, so that line has plain words only: "sonde host agent" speaks
 * the protocol below on stdin and stdout. It receives the command, with any characters, through it, and stores it in a
 * private directory. "sonde host run DIR", over a second connection, executes that command, so that stdout and stderr
 * belong to the program alone.
 *
 *   (greeting)              sonde-host 1
 *   time                    time MONOTONIC_NS
 *   prepare BYTES + bytes   dir DIR          NUL-terminated words: working directory, sonde,
 *                                            and the arguments after "record --output=DIR/run"
 *   signal NUMBER           ok               for the recorder
 *   lives PID               lives 0 or 1     is that process alive on the host?
 *   send                    file NAME BYTES + bytes ... end
 *   bye                     ok               the directory is removed
 *
 * or "error SENTENCE". EOF on stdin stops the recorder too, and removes the directory.
 */
#ifndef SONDE_RECORD_HOST_AGENT_H
#define SONDE_RECORD_HOST_AGENT_H

#include "base/err.h"

#define HOST_GREETING "sonde-host 1"
#define HOST_RUN "run" /* the run directory, below DIR */
#define HOST_COMMAND_BYTES_MAX ((size_t)4 << 20)

int host_agent(int in, int out, struct sonde_err *err);
/* Execute the command prepared in `dir`; returns only on failure. */
int host_run(const char *dir, struct sonde_err *err);

#endif

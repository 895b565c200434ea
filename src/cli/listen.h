/* listen: shared by servers that users start: listen address and termination. */
#ifndef SONDE_CLI_LISTEN_H
#define SONDE_CLI_LISTEN_H

#include "base/arena.h"
#include "base/err.h"

#include <signal.h>
#include <stdbool.h>

/* "127.0.0.1:8080", "[::1]:8080" or ":8080", which means loopback. */
int listen_parse(const char *text, struct arena *arena, const char **address, unsigned *port, struct sonde_err *err);

/* Blocks the termination signals for sigwait. Call before creating threads, which inherit the mask. */
void listen_block(sigset_t *signals);
/* Prints the address, as text or as a JSON object, and flushes stdout. */
int listen_say(const char *address, unsigned port, bool is_json, struct sonde_err *err);

#endif

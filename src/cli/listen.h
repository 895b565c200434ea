/* listen: what the servers that people start share: where they listen, and their end. */
#ifndef SONDE_CLI_LISTEN_H
#define SONDE_CLI_LISTEN_H

#include "base/arena.h"
#include "base/err.h"

#include <signal.h>
#include <stdbool.h>

/* "127.0.0.1:8080", "[::1]:8080" or ":8080", which is loopback's. */
int listen_parse(const char *text, struct arena *arena, const char **address, unsigned *port, struct sonde_err *err);

/* Before there are threads, which inherit it: the signals that end a server are kept for whoever waits for them. */
void listen_block(sigset_t *signals);
/* Say where it listens, as text or as a JSON object, at once. */
int listen_say(const char *address, unsigned port, bool is_json, struct sonde_err *err);

#endif

/*
 * daemon: shared by servers that users or systemd start: listen address, termination, and the protocol of sd_notify(3)
 * (READY, WATCHDOG, RELOADING and STOPPING), which does nothing without systemd.
 */
#ifndef SONDE_CLI_DAEMON_H
#define SONDE_CLI_DAEMON_H

#include "base/arena.h"
#include "base/err.h"

#include <signal.h>
#include <stdbool.h>

/* "127.0.0.1:8080", "[::1]:8080" or ":8080", which means loopback. */
int listen_parse(const char *text, struct arena *arena, const char **address, unsigned *port, struct sonde_err *err);

/* Prints the address, as text or as a JSON object, and flushes stdout. */
int listen_say(const char *address, unsigned port, bool is_json, struct sonde_err *err);

/* Blocks the termination signals: call it before creating threads, which inherit the mask. can_reload is called on
 * SIGHUP; if it returns false, nothing happens. NULL: SIGHUP stops the server. */
void daemon_block(sigset_t *signals, void *arg, bool (*can_reload)(void *arg));
void daemon_ready(void);
/* Waits for a signal: true to reload, false to stop. Sends watchdog notifications meanwhile. */
bool daemon_wait(const sigset_t *signals);

#endif

/*
 * daemon: sd_notify(3) protocol of a server that systemd may have started: READY, WATCHDOG, RELOADING and STOPPING.
 * Does nothing without systemd.
 */
#ifndef SONDE_CLI_DAEMON_H
#define SONDE_CLI_DAEMON_H

#include <signal.h>
#include <stdbool.h>

struct cli_context;

/* Call before creating threads. can_reload is called on SIGHUP; if it returns false, nothing happens. NULL: SIGHUP
 * stops the server. */
void daemon_block(sigset_t *signals, void *arg, bool (*can_reload)(void *arg));
void daemon_ready(bool is_again);
/* Waits for a signal: true to reload, false to stop. Sends watchdog notifications meanwhile. */
bool daemon_wait(const sigset_t *signals);

#endif

/*
 * daemon: manners of a server that systemd may have started: it says when it is ready, that it
 * lives, that it reloads and that it ends (sd_notify(3), by the protocol itself). Without
 * systemd all of that is nothing.
 */
#ifndef SONDE_CLI_DAEMON_H
#define SONDE_CLI_DAEMON_H

#include <signal.h>
#include <stdbool.h>

struct cli_context;

/* Before there are threads. can_reload is asked at a hang-up; when it says no nothing happens; NULL: a
 * hang-up ends the server. */
void daemon_block(sigset_t *signals, void *arg, bool (*can_reload)(void *arg));
void daemon_ready(bool is_again);
/* Until a signal: true to load again, false to end. Tells the watchdog meanwhile. */
bool daemon_wait(const sigset_t *signals);

#endif

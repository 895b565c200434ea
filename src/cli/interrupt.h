/*
 * interrupt: graceful termination of commands. The first SIGINT or SIGTERM after interrupt_catch sets interrupt_came;
 * the second has its default action.
 */
#ifndef SONDE_CLI_INTERRUPT_H
#define SONDE_CLI_INTERRUPT_H

#include <signal.h>

extern volatile sig_atomic_t interrupt_came;

void interrupt_catch(void);

#endif

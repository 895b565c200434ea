/*
 * priority: raised scheduling priority, where the system permits it.
 *
 * Other running processes cause most of the noise in a measurement of wall time. Where permitted (root,
 * CAP_SYS_NICE, RLIMIT_NICE), the measured program gets the best nice value. A kernel with autogroups shares the
 * CPUs among sessions first and applies the nice value only within a session. So the tree runs in a separate
 * session, and the autogroup gets the value too. The separate session helps without privileges as well: the program
 * competes with other sessions, instead of with every process of its terminal.
 *
 * The measuring process and the supervisors of jobs use little CPU but must wake in time, so they have a real-time
 * class while measuring. The measured programs never get it: they could hang the machine.
 *
 * Other cgroups with their own share keep it; so do other guests of the same host.
 */
#ifndef SONDE_LAUNCH_PRIORITY_H
#define SONDE_LAUNCH_PRIORITY_H

#include <stdbool.h>

/* Is a raised priority permitted? Changes nothing. */
bool priority_is_allowed(void);
/* Raises our own class. Forked children inherit it; a job's command resets it. False: unchanged. */
bool priority_begin(void);
void priority_end(void);
/* For the first process of a tree; its children inherit it. Allocates nothing. False if any part of it failed. */
bool priority_take(void);
/* For the command, before exec: keeps the nice value, resets the real-time class. Allocates nothing. 0 or -errno. */
int priority_pass_on(void);

#endif

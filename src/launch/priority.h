/*
 * priority: ahead of other processes, where the system lets us.
 *
 * Whatever else computes on a machine is most of the noise in a measurement of time
 * that passes. Where we may (root, CAP_SYS_NICE, RLIMIT_NICE), what is measured gets
 * the best nice value. A kernel that shares the processors among sessions first
 * (autogroups) heeds that only within a session, so the tree has one of its own
 * and the value is that session's as well. That much an ordinary user can have too:
 * in a session of its own a program shares a processor with each other session, and
 * not with every process of the terminal it was started from.
 *
 * We who measure, and the keepers of jobs, do little and must be awake in time: we
 * have a real-time class while we measure. It would do more for the programs, too,
 * and could stop the machine: they never have it.
 *
 * Other control groups with a claim of their own keep it; so do other guests of the
 * same host.
 */
#ifndef SONDE_LAUNCH_PRIORITY_H
#define SONDE_LAUNCH_PRIORITY_H

#include <stdbool.h>

/* May we? Changes nothing. */
bool priority_is_allowed(void);
/* For us, from now on; what we fork inherits it, and a job's command gives it up. False: as usual. */
bool priority_begin(void);
void priority_end(void);
/* For the first process of a tree, whose children inherit it. Allocates nothing. False: not all of it could be had. */
bool priority_take(void);
/* For the command, before exec: its nice value, and no real-time class. Allocates nothing. 0 or -errno. */
int priority_pass_on(void);

#endif

/*
 * family: a process and its forked children finish each other's logs.
 *
 * Workers that are ended by a signal (a pool's, a data loader's) cannot finish theirs. Each
 * process of a family writes down in a shared page where its ring is; a parent that finishes
 * its own log then finishes those of its dead children, the first of them all everybody's, as
 * `sonde recover` would.
 */
#ifndef DFTRACER_FAMILY_H
#define DFTRACER_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

/* Before the first fork; without it everybody is alone. */
void family_begin(void);

/* This process's ring is in this directory; and no longer. */
void family_join(int32_t pid, const char *place);
void family_leave(int32_t pid);

/* In the helper thread. */
void family_finish_dead(void);

#endif

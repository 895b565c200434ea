/*
 * family: a process and its forked children finish each other's logs.
 *
 * Workers that are killed by a signal (of a pool, a data loader) cannot finish their logs. Each process of a family
 * stores the location of its ring in a shared page; a parent that finishes its log then finishes those of its dead
 * children, and the first process those of all, like `sonde recover`.
 */
#ifndef DFTRACER_FAMILY_H
#define DFTRACER_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

/* Call before the first fork; without it each process handles only its log. */
void family_begin(void);

/* Register the directory of this process's ring; or unregister. */
void family_join(int32_t pid, const char *place);
void family_leave(int32_t pid);

/* Called in the helper thread. */
void family_finish_dead(void);

#endif

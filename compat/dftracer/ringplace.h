/*
 * ringplace: where the ring of this process is stored, and how it is found after the process was killed.
 *
 * In memory, /dev/shm/sonde-dftracer-<pid>-<number>, with a symbolic link `<log>.ring` to it next to the log; if
 * /dev/shm is full, the directory itself is `<log>.ring`. Both are removed when the log is complete; `sonde recover`
 * processes those that are left.
 */
#ifndef DFTRACER_RINGPLACE_H
#define DFTRACER_RINGPLACE_H

#include <stdbool.h>
#include <stdint.h>

/* Create a directory for the ring of the log at this absolute path; NULL on failure. Static storage. */
const char *ring_place_make(const char *log);

/* The log is complete: remove directory and link. Uses only raw system calls. */
void ring_place_remove(void);

/* The same for another process, with its log at this path. */
void ring_place_remove_other(const char *place, const char *log, uint32_t process, uint32_t segments);

/*
 * A process and its forked children finish each other's logs.
 *
 * Workers that are killed by a signal (of a pool, a data loader) cannot finish their logs. Each process of a family
 * stores the location of its ring in a shared page; a parent that finishes its log then finishes those of its dead
 * children, and the first process those of all, like `sonde recover`.
 */

/* Call before the first fork; without it each process handles only its log. */
void family_begin(void);

/* Register the directory of this process's ring; or unregister. */
void family_join(int32_t pid, const char *place);
void family_leave(int32_t pid);

/* Called in the helper thread. */
void family_finish_dead(void);

#endif

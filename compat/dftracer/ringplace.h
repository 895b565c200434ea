/*
 * ringplace: where the ring of this process lives, and how it is found when the process was killed.
 *
 * In memory, /dev/shm/sonde-dftracer-<pid>-<number>, with a symbolic link `<log>.ring` to it
 * beside the log; where memory has no room the directory itself is `<log>.ring`. Both go away
 * when the log is complete; `sonde recover` takes whatever is left.
 */
#ifndef DFTRACER_RINGPLACE_H
#define DFTRACER_RINGPLACE_H

#include <stdbool.h>
#include <stdint.h>

/* A directory for the ring of the log at this absolute path; NULL: none can be made. Static. */
const char *ring_place_make(const char *log);

/* The log is complete: directory and link. Makes system calls only. */
void ring_place_remove(void);

/* The same for another process's, of which the log is at this path. */
void ring_place_remove_other(const char *place, const char *log, uint32_t process, uint32_t segments);

#endif

/*
 * limits: the memory limit of the program's cgroup, so that neither our rings nor a recorder in the same cgroup
 * trigger the OOM killer.
 */
#ifndef SONDE_TRACER_LIMITS_H
#define SONDE_TRACER_LIMITS_H

#include <stdint.h>

/* The memory limit of this process's cgroup (v1 or v2), UINT64_MAX if unlimited. Makes system calls. */
uint64_t limits_memory_bytes(void);

#endif

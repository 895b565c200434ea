/*
 * limits: how much memory the program's control group leaves it, so that neither
 * our rings nor a recorder in the same group ever cost it its life.
 */
#ifndef SONDE_TRACER_LIMITS_H
#define SONDE_TRACER_LIMITS_H

#include <stdint.h>

/* The memory limit of this process's cgroup (v1 or v2), UINT64_MAX when there is none. Makes system calls. */
uint64_t limits_memory_bytes(void);

#endif

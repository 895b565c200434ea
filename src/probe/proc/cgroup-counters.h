/* cgroup-counters: the cgroups of a process, v1 and v2, as feeds. */
#ifndef SONDE_PROBE_PROC_CGROUP_COUNTERS_H
#define SONDE_PROBE_PROC_CGROUP_COUNTERS_H

#include "probe/proc/procfile.h"

#include <sys/types.h>

/* Opens the files for `pid`, or of the directory `dir` if not NULL, into feeds[0..room). Returns the count. */
size_t groups_open(struct feed *feeds, size_t room, pid_t pid, const char *dir);

#endif

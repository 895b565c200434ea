/* proc-maps: whether a process has mapped a file, from /proc/PID/maps; independent of PID namespaces. */
#ifndef SONDE_BASE_PROC_MAPS_H
#define SONDE_BASE_PROC_MAPS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * 1: the process maps this file; 0: it does not; -errno if this is unknown or the process does not exist. `name`, the
 * last component of the path, is compared if the device differs, since some file systems report different devices in
 * stat and maps. NULL: not compared.
 */
int maps_have(pid_t pid, const struct stat *file, const char *name);

#endif

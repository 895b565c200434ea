/* maps: which files a process has mapped, as /proc tells: who has a file, whatever namespace its number is of. */
#ifndef SONDE_BASE_PROC_MAPS_H
#define SONDE_BASE_PROC_MAPS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * 1: it has this file; 0: not; negative errno: that cannot be told, or there is no such process. `name`, the last part
 * of its path, is looked at where the device is another: some file systems tell stat one and maps another. NULL: not.
 */
int maps_have(pid_t pid, const struct stat *file, const char *name);

#endif

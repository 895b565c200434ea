#include "record/writers.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/maps.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

pid_t writers_find(const char *ring)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	struct stat control;
	pid_t found = 0;

	buf_addf(&path, "%s/control", ring);
	if (buf_error(&path) || stat(path.data, &control))
		return 0;
	DIR *processes = opendir("/proc");
	for (struct dirent *e; processes && !found && (e = readdir(processes));) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10); /* 0: no process's */

		if (pid > 0 && maps_have(pid, &control, "control") == 1)
			found = pid;
	}
	if (processes)
		closedir(processes);
	return found;
}

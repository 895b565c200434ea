#include "record/writers.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define MAPS_BYTES_MAX ((size_t)64 << 20)

/* A line is `from-to access offset major:minor inode path`. */
static bool maps_have(const char *maps, const struct stat *file)
{
	for (const char *line = maps; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		unsigned major_number, minor_number;
		unsigned long inode;

		if (sscanf(line, "%*s %*s %*s %x:%x %lu", &major_number, &minor_number, &inode) == 3 &&
				inode == file->st_ino && makedev(major_number, minor_number) == file->st_dev)
			return true;
	}
	return false;
}

pid_t writers_find(const char *ring)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT, maps = BUF_INIT;
	struct stat control;
	pid_t found = 0;

	buf_addf(&path, "%s/control", ring);
	if (buf_error(&path) || stat(path.data, &control))
		return 0;
	DIR *processes = opendir("/proc");
	for (struct dirent *e; processes && !found && (e = readdir(processes));) {
		char name[32];

		if (e->d_name[0] < '1' || e->d_name[0] > '9' || strlen(e->d_name) > 10)
			continue;
		snprintf(name, sizeof(name), "/proc/%.10s/maps", e->d_name);
		buf_reset(&maps);
		if (!fs_read_file(AT_FDCWD, name, MAPS_BYTES_MAX, &maps, NULL) && maps_have(maps.data, &control))
			found = (pid_t)strtol(e->d_name, NULL, 10);
	}
	if (processes)
		closedir(processes);
	return found;
}

#include "base/proc-maps.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#define MAPS_BYTES_MAX ((size_t)64 << 20)

static bool ends_in(const char *line, const char *name)
{
	const char *end = strchrnul(line, '\n');
	size_t n = name ? strlen(name) : 0;

	return n && (size_t)(end - line) > n && end[-(ptrdiff_t)n - 1] == '/' && memcmp(end - n, name, n) == 0;
}

/* A line is `from-to access offset major:minor inode path`. */
int maps_have(pid_t pid, const struct stat *file, const char *name)
{
	CLEANUP(buf_release) struct buf maps = BUF_INIT;
	char path[32];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	rc = fs_read_file(AT_FDCWD, path, MAPS_BYTES_MAX, &maps, NULL);
	for (const char *line = maps.data; rc == 0 && line && *line; line = strchr(line, '\n'), line += line != NULL) {
		unsigned major_number, minor_number;
		unsigned long inode;

		if (sscanf(line, "%*s %*s %*s %x:%x %lu", &major_number, &minor_number, &inode) == 3 &&
				inode == file->st_ino &&
				(makedev(major_number, minor_number) == file->st_dev || ends_in(line, name)))
			return 1;
	}
	return rc;
}

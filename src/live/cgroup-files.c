#include "live/cgroup-files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define AGAIN_READS 64 /* a missing file may appear with its controller: retry at intervals */

static const struct {
	enum live_place place;
	const char *name;
} files[LIVE_GROUP_FILES] = {
	[GROUP_CPU_STAT] = { LIVE_CORE, "cpu.stat" },
	[GROUP_MEMORY] = { LIVE_CORE, "memory.current" },
	[GROUP_CPU_PRESSURE] = { LIVE_CORE, "cpu.pressure" },
	[GROUP_MEMORY_PRESSURE] = { LIVE_CORE, "memory.pressure" },
	[GROUP_IO_PRESSURE] = { LIVE_CORE, "io.pressure" },
	[GROUP_V1_CPUACCT_STAT] = { LIVE_CPUACCT, "cpuacct.stat" },
	[GROUP_V1_CPU_STAT] = { LIVE_CPU, "cpu.stat" },
	[GROUP_V1_MEMORY] = { LIVE_MEMORY, "memory.usage_in_bytes" },
};

static int open_file(const struct live_cgroup *dirs, enum live_group_file file)
{
	const char *dir = dirs->dir[files[file].place];
	char path[320];

	snprintf(path, sizeof(path), "%s/%s", dir, files[file].name);
	return *dir ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

/* Half of the descriptor limit is reserved for clients and boards. */
static bool may_keep(int fd)
{
	static rlim_t most;
	struct rlimit limit;

	if (!most)
		most = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
	return (rlim_t)fd < most / 2;
}

static ssize_t read_kept(struct live_group_files *f, enum live_group_file file, char *text)
{
	ssize_t n = pread(f->fds[file], text, LIVE_GROUP_TEXT_BYTES - 1, 0);

	if (n < 0) { /* the cgroup was removed; a new one may have the same name */
		close(f->fds[file]);
		f->fds[file] = 0;
	}
	return n;
}

void live_group_read(struct live_group_files *f, const struct live_cgroup *dirs, enum live_group_file file,
		char text[LIVE_GROUP_TEXT_BYTES])
{
	ssize_t n = f->fds[file] > 0 ? read_kept(f, file, text) : -1;

	if (n < 0 && (f->fds[file] == 0 || f->reads[file] % AGAIN_READS == 0)) {
		int fd = open_file(dirs, file);

		n = fd < 0 ? -1 : pread(fd, text, LIVE_GROUP_TEXT_BYTES - 1, 0);
		f->fds[file] = fd < 0 && errno == ENOENT ? -1 : fd < 0 ? 0 : fd;
		if (fd >= 0 && !may_keep(fd)) {
			close(fd);
			f->fds[file] = 0;
		}
	}
	f->reads[file]++;
	text[n > 0 ? n : 0] = '\0';
}

void live_group_close(struct live_group_files *f)
{
	for (size_t i = 0; i < LIVE_GROUP_FILES; i++)
		if (f->fds[i] > 0)
			close(f->fds[i]);
	*f = (struct live_group_files){ 0 };
}

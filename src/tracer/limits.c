#include "tracer/limits.h"

#include "tracer/raw-syscall.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static long read_file(const char *path, char *out, size_t room)
{
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	long n = sys3(SYS_read, fd, out, room - 1);
	sys_close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n;
}

/* A number; "max" and other words mean unlimited. */
static uint64_t read_limit(const char *path)
{
	char text[32];
	uint64_t value = 0;
	if (read_file(path, text, sizeof(text)) <= 0 || text[0] < '0' || text[0] > '9')
		return UINT64_MAX;
	for (const char *p = text; *p >= '0' && *p <= '9'; p++)
		value = value > UINT64_MAX / 10 - 1 ? UINT64_MAX : value * 10 + (uint64_t)(*p - '0');
	return value;
}

/* Inside a container the cgroup's path may not exist below its mount: then the mount's root is the cgroup. */
static uint64_t limit_of(const char *mount, const char *group, const char *name)
{
	static char path[1024]; /* static here and below: one thread at a time, on a stack that may be small */
	snprintf(path, sizeof(path), "%s%s/%s", mount, group, name);
	uint64_t limit = read_limit(path);
	if (limit != UINT64_MAX)
		return limit;
	snprintf(path, sizeof(path), "%s/%s", mount, name);
	return read_limit(path);
}

static bool has_controller(const char *list, const char *end)
{
	const char *at = strstr(list, "memory");
	return at && at < end;
}

uint64_t limits_memory_bytes(void)
{
	static char groups[2048];
	uint64_t limit = UINT64_MAX, one;
	if (read_file("/proc/self/cgroup", groups, sizeof(groups)) <= 0)
		return limit;
	for (char *line = groups, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
		if (!group)
			continue;
		if (group == list + 1)
			one = limit_of("/sys/fs/cgroup", group + 1, "memory.max");
		else if (has_controller(list, group))
			one = limit_of("/sys/fs/cgroup/memory", group + 1, "memory.limit_in_bytes");
		else
			continue;
		limit = one < limit ? one : limit;
	}
	return limit;
}

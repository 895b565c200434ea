/* See container.h. */
#include "live/container.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "launch/cgroup.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ID_BYTES 64
#define TEXT_MAX ((size_t)1 << 20)

static bool read_of(pid_t pid, const char *file, size_t max, struct buf *text)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return fs_read_file(AT_FDCWD, path, max, text, NULL) == 0;
}

void live_container_id(const char *cgroups, char *id, size_t size)
{
	size_t run = 0;

	id[0] = '\0';
	for (const char *p = cgroups; *p; p++) {
		run = isdigit((unsigned char)*p) || (*p >= 'a' && *p <= 'f') ? run + 1 : 0;
		if (run == ID_BYTES && !isalnum((unsigned char)p[1])) {
			snprintf(id, size, "%.*s", ID_BYTES, p - ID_BYTES + 1);
			return;
		}
	}
}

void live_container_of(pid_t pid, char *id, size_t id_size, char *name, size_t name_size)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *at, *end;

	id[0] = name[0] = '\0';
	if (!read_of(pid, "cgroup", TEXT_MAX, &text))
		return;
	live_container_id(text.data, id, id_size);
	if (!*id)
		return;
	buf_reset(&text);
	if (!read_of(pid, "root/run/.containerenv", 65536, &text))
		return;
	at = strstr(text.data, "name=\"");
	end = at ? strchr(at + 6, '"') : NULL;
	if (end)
		snprintf(name, name_size, "%.*s", (int)(end - at - 6), at + 6);
}

void live_container_cgroup(pid_t pid, struct live_cgroup *group)
{
	static const enum cgroup_controller controllers[LIVE_PLACES] = { [LIVE_CORE] = CGROUP_CORE,
		[LIVE_CPU] = CGROUP_CPU,
		[LIVE_CPUACCT] = CGROUP_CPUACCT,
		[LIVE_MEMORY] = CGROUP_MEMORY };
	CLEANUP(buf_release) struct buf mounts = BUF_INIT, its = BUF_INIT, own = BUF_INIT;
	struct cgroup_map map, ours;

	*group = (struct live_cgroup){ 0 };
	if (!read_of(pid, "cgroup", TEXT_MAX, &its) || !read_of(getpid(), "cgroup", TEXT_MAX, &own) ||
			!read_of(getpid(), "mountinfo", TEXT_MAX, &mounts))
		return;
	cgroup_map_parse(&map, mounts.data, its.data);
	cgroup_map_parse(&ours, mounts.data, own.data);
	for (size_t i = 0; i < LIVE_PLACES; i++) {
		const char *dir = map.base[controllers[i]];

		if (strcmp(dir, ours.base[controllers[i]]) != 0)
			snprintf(group->dir[i], sizeof(group->dir[i]), "%.255s", dir);
	}
}

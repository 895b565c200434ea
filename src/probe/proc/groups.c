/* Finding the files of a process's control groups; see groups.h. */
#include "probe/proc/groups.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>

/* Where a hierarchy is mounted: cgroup2 for controller NULL, else the v1 one that has the controller. */
static bool find_mount(const char *controller, struct buf *out)
{
	struct mntent entry;
	char text[4096];
	bool is_found = false;
	FILE *f = setmntent("/proc/self/mounts", "re");
	while (f && !is_found && getmntent_r(f, &entry, text, sizeof(text))) {
		is_found = controller ? !strcmp(entry.mnt_type, "cgroup") && hasmntopt(&entry, controller)
				      : !strcmp(entry.mnt_type, "cgroup2");
		if (is_found)
			buf_adds(out, entry.mnt_dir);
	}
	if (f)
		endmntent(f);
	return is_found;
}

/* A line of /proc/PID/cgroup is "4:memory,x:/path", of v2 "0::/path". */
static bool path_in(const char *text, const char *controller, struct buf *out)
{
	for (const char *at = text; *at; at = strchrnul(at, '\n'), at += *at == '\n') {
		const char *names = strchr(at, ':'), *path = names ? strchr(names + 1, ':') : NULL;
		if (!path)
			return false;
		size_t bytes = (size_t)(path - names - 1);
		bool is_it = controller ? bytes >= strlen(controller) &&
						memmem(names, bytes + 1, controller, strlen(controller))
					: bytes == 0;
		if (is_it && controller) {
			const char *found = memmem(names, bytes + 1, controller, strlen(controller));
			char before = found[-1], after = found[strlen(controller)];
			is_it = (before == ':' || before == ',') && (after == ':' || after == ',');
		}
		if (is_it) {
			buf_add(out, path + 1, strcspn(path + 1, "\n"));
			return true;
		}
	}
	return false;
}

static bool open_at(struct feed *f, const struct feed_kind *kind, const char *dir)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	buf_addf(&path, "%s/%s", dir, kind->path);
	return feed_open(f, kind, path.data);
}

static bool open_of(struct feed *f, const struct feed_kind *kind, const char *groups, const char *controller)
{
	CLEANUP(buf_release) struct buf dir = BUF_INIT;
	return find_mount(controller, &dir) && path_in(groups, controller, &dir) && open_at(f, kind, dir.data);
}

size_t groups_open(struct feed *feeds, size_t room, pid_t pid, const char *dir)
{
	CLEANUP(buf_release) struct buf groups = BUF_INIT;
	char path[32];
	size_t n = 0;
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (!dir && fs_read_file(AT_FDCWD, path, 65536, &groups, NULL))
		return 0;
	for (const struct feed_kind *k = feed_group_v2; k->prefix && n < room; k++)
		n += dir ? open_at(&feeds[n], k, dir) : open_of(&feeds[n], k, groups.data, NULL);
	bool has_v2_cpu = n && feeds[0].kind == &feed_group_v2[0];
	for (size_t i = 0; feed_group_v1[i].prefix && n < room; i++) {
		if (i == 0 && has_v2_cpu)
			continue; /* the same number under the same name */
		n += dir ? open_at(&feeds[n], &feed_group_v1[i], dir)
			 : open_of(&feeds[n], &feed_group_v1[i], groups.data, feed_group_v1_controllers[i]);
	}
	return n;
}

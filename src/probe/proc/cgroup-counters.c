#include "probe/proc/cgroup-counters.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>

#define CONTROLLERS_MAX 4 /* rows of feed_group_v1 */

/* The mounted hierarchies: the v2 directory and, for each row of feed_group_v1, its controller's. "" if not mounted. */
struct mounts {
	struct buf v2, v1[CONTROLLERS_MAX];
};

static void take_mount(struct mounts *m, const struct mntent *entry)
{
	if (!strcmp(entry->mnt_type, "cgroup2") && !m->v2.len)
		buf_adds(&m->v2, entry->mnt_dir);
	for (size_t i = 0; !strcmp(entry->mnt_type, "cgroup") && feed_group_v1[i].prefix && i < CONTROLLERS_MAX; i++)
		if (hasmntopt(entry, feed_group_v1_controllers[i]) && !m->v1[i].len)
			buf_adds(&m->v1[i], entry->mnt_dir);
}

static void mounts_read(struct mounts *m)
{
	struct mntent entry;
	char text[4096];
	FILE *f = setmntent("/proc/self/mounts", "re");
	buf_init(&m->v2, 0);
	for (size_t i = 0; i < CONTROLLERS_MAX; i++)
		buf_init(&m->v1[i], 0);
	while (f && getmntent_r(f, &entry, text, sizeof(text)))
		take_mount(m, &entry);
	if (f)
		endmntent(f);
}

static void mounts_release(struct mounts *m)
{
	buf_release(&m->v2);
	for (size_t i = 0; i < CONTROLLERS_MAX; i++)
		buf_release(&m->v1[i]);
}

/* Is `word` in the comma-separated list that ends before `end`? */
static bool has_word(const char *words, const char *end, const char *word)
{
	for (const char *at = words; at < end;) {
		size_t bytes = strcspn(at, ",:");
		if (bytes == strlen(word) && !memcmp(at, word, bytes))
			return true;
		at += bytes + 1;
	}
	return false;
}

/* A line of /proc/PID/cgroup is "4:memory,x:/path", of v2 (controller NULL) "0::/path". Appends the path. */
static bool path_in(const char *text, const char *controller, struct buf *out)
{
	for (const char *at = text; *at; at = strchrnul(at, '\n'), at += *at == '\n') {
		const char *names = strchr(at, ':'), *path = names ? strchr(names + 1, ':') : NULL;
		if (!path)
			return false;
		if (controller ? has_word(names + 1, path, controller) : path == names + 1) {
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

static bool open_of(struct feed *f, const struct feed_kind *kind, const char *groups, const char *controller,
		const struct buf *mount)
{
	CLEANUP(buf_release) struct buf dir = BUF_INIT;
	buf_adds(&dir, mount->data);
	return mount->len && path_in(groups, controller, &dir) && open_at(f, kind, dir.data);
}

/* For a directory given by the user: opens the files of both versions found in it. */
static size_t open_dir(struct feed *feeds, size_t room, const char *dir)
{
	size_t n = 0;
	for (const struct feed_kind *k = feed_group_v2; k->prefix && n < room; k++)
		n += open_at(&feeds[n], k, dir);
	bool has_v2 = n > 0; /* v1's cpu.stat has the same name and another layout */
	for (const struct feed_kind *k = feed_group_v1; !has_v2 && k->prefix && n < room; k++)
		n += open_at(&feeds[n], k, dir);
	return n;
}

size_t groups_open(struct feed *feeds, size_t room, pid_t pid, const char *dir)
{
	CLEANUP(buf_release) struct buf groups = BUF_INIT;
	struct mounts mounts;
	char path[32];
	size_t n = 0;
	if (dir)
		return open_dir(feeds, room, dir);
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (fs_read_file(AT_FDCWD, path, 65536, &groups, NULL))
		return 0;
	mounts_read(&mounts);
	for (const struct feed_kind *k = feed_group_v2; k->prefix && n < room; k++)
		n += open_of(&feeds[n], k, groups.data, NULL, &mounts.v2);
	bool has_v2_cpu = n && feeds[0].kind == &feed_group_v2[0];
	for (size_t i = has_v2_cpu; feed_group_v1[i].prefix && n < room;
			i++) /* v1's first row is the same counter as v2's */
		n += open_of(&feeds[n], &feed_group_v1[i], groups.data, feed_group_v1_controllers[i], &mounts.v1[i]);
	mounts_release(&mounts);
	return n;
}

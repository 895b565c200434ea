/*
 * Resource usage of a container, read from its cgroup.
 *
 * The engine removes the cgroup when the command exits, and the rusage of the engine's own processes is not
 * separable from the command's. So the cgroup is polled while it exists, and the last reading is reported. An OOM
 * kill happens too late for that; the engine is queried for it.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "launch/cgroup.h"
#include "launch/container-isolation.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define LOOK_NS 50000000
#define ID_DIGITS 64
#define TEXT_MAX ((size_t)1 << 20)

static bool read_map(struct cgroup_map *m, pid_t pid, const char *mounts)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	if (fs_read_file(AT_FDCWD, path, TEXT_MAX, &own, NULL))
		return false;
	cgroup_map_parse(m, mounts, own.data);
	return true;
}

/*
 * Engines put the container's id into the cgroup path. Before its start and after its end a process is in another
 * cgroup.
 */
static bool is_container(const char *dir)
{
	size_t run = 0;
	for (; *dir && run < ID_DIGITS; dir++)
		run = strchr("0123456789abcdef", *dir) ? run + 1 : 0;
	return run == ID_DIGITS;
}

static void find_leaf(struct cgroup_leaf *leaf, struct cgroup_map *its)
{
	*leaf = (struct cgroup_leaf){ .v2_fd = -1 };
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		if (is_container(its->base[i])) {
			leaf->dir[i] = its->base[i];
			leaf->is_v2[i] = its->is_v2[i];
		}
	if (!*its->base[CGROUP_MEMORY] && leaf->dir[CGROUP_CORE]) {
		leaf->dir[CGROUP_MEMORY] = leaf->dir[CGROUP_CORE];
		leaf->is_v2[CGROUP_MEMORY] = true;
	}
}

void container_poll(struct job *j)
{
	struct contained *c = j->place;
	CLEANUP(buf_release) struct buf mounts = BUF_INIT;
	struct cgroup_map its;
	struct cgroup_leaf leaf;
	int64_t now_ns = clock_mono_ns();
	if (!j->pid || now_ns < c->looked_ns + LOOK_NS)
		return;
	c->looked_ns = now_ns;
	if (fs_read_file(AT_FDCWD, "/proc/self/mountinfo", TEXT_MAX, &mounts, NULL) ||
			!read_map(&its, j->pid, mounts.data))
		return;
	find_leaf(&leaf, &its);
	cgroup_leaf_usage(&leaf, &c->seen);
}

static void ask_about_memory(const struct job *j, struct contained *c)
{
	if (!j->has_ended || !c->is_limited)
		return;
	c->is_limited = false; /* query once */
	int was_oom = engine_was_oom(c->engine, c->name);
	if (was_oom >= 0 && c->seen.oom_kills < was_oom)
		c->seen.oom_kills = was_oom;
}

void container_seen(const struct job *j, struct job_usage *usage)
{
	struct contained *c = j->place;
	ask_about_memory(j, c);
	usage->user_ns = c->seen.user_ns;
	usage->system_ns = c->seen.system_ns;
	usage->max_rss_bytes = c->seen.max_rss_bytes;
	usage->oom_kills = c->seen.oom_kills;
}

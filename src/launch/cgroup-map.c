#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "launch/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)1 << 20)

/* Names of the v1 controllers. */
static const char *const controller_names[] = {
	[CGROUP_CPU] = "cpu",
	[CGROUP_CPUACCT] = "cpuacct",
	[CGROUP_MEMORY] = "memory",
	[CGROUP_PIDS] = "pids",
	[CGROUP_IO] = "blkio",
	[CGROUP_FREEZER] = "freezer",
	[CGROUP_CORE] = "", /* v2 itself */
};

static const char *v2_name(int controller)
{
	return controller == CGROUP_IO ? "io" : controller_names[controller];
}

static bool list_has(const char *list, size_t length, char separator, const char *word)
{
	size_t n = strlen(word);
	for (const char *end = list + length; list <= end;) {
		const char *stop = memchr(list, separator, (size_t)(end - list));
		stop = stop ? stop : end;
		if ((size_t)(stop - list) == n && !memcmp(list, word, n))
			return true;
		list = stop + 1;
	}
	return false;
}

/* Our cgroup in the hierarchy of a controller: a line "N:cpu,cpuacct:/path"; "0::/path" for v2. */
static bool own_path(const char *own, const char *controller, char *out, size_t size)
{
	for (const char *line = own; *line;) {
		const char *end = strchrnul(line, '\n'), *list = strchr(line, ':');
		const char *path = list && list < end ? strchr(list + 1, ':') : NULL;
		if (path && path < end && list_has(list + 1, (size_t)(path - list - 1), ',', controller)) {
			int n = snprintf(out, size, "%.*s", (int)(end - path - 1), path + 1);
			return n > 0 && (size_t)n < size;
		}
		line = *end ? end + 1 : end;
	}
	return false;
}

struct mount {
	char root[512], at[512], type[16], options[512];
};

/* "36 35 0:30 ROOT AT OPTIONS [FIELDS...] - TYPE SOURCE SUPER-OPTIONS" */
static bool parse_mount(const char *line, size_t n, struct mount *m)
{
	char text[4096];
	if (n >= sizeof(text))
		return false;
	memcpy(text, line, n);
	text[n] = '\0';
	const char *behind = strstr(text, " - ");
	return behind && sscanf(text, "%*s %*s %*s %511s %511s", m->root, m->at) == 2 &&
			sscanf(behind, " - %15s %*s %511s", m->type, m->options) == 2;
}

/* In a container the mount shows only a subtree of the hierarchy, so our path is relative to the mount's root. */
static void set_base(struct cgroup_map *m, int controller, const struct mount *mount, const char *path, bool is_v2)
{
	size_t n = strcmp(mount->root, "/") ? strlen(mount->root) : 0;
	const char *rest = strncmp(path, mount->root, n) ? "" : path + n;
	int length = snprintf(m->base[controller], sizeof(m->base[controller]), "%s%s", mount->at,
			strcmp(rest, "/") ? rest : "");
	if (length < 0 || (size_t)length >= sizeof(m->base[controller]))
		m->base[controller][0] = '\0';
	m->is_v2[controller] = is_v2;
}

void cgroup_map_parse(struct cgroup_map *m, const char *mountinfo, const char *own)
{
	memset(m, 0, sizeof(*m));
	for (const char *line = mountinfo; *line;) {
		const char *end = strchrnul(line, '\n');
		struct mount mount;
		if (parse_mount(line, (size_t)(end - line), &mount)) {
			char path[512];
			bool is_v2 = !strcmp(mount.type, "cgroup2");
			if (is_v2 || !strcmp(mount.type, "cgroup")) {
				for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
					bool is_here = is_v2 ? i == CGROUP_CORE
							     : i != CGROUP_CORE &&
									list_has(mount.options, strlen(mount.options),
											',', controller_names[i]);
					if (is_here && own_path(own, controller_names[i], path, sizeof(path)))
						set_base(m, i, &mount, path, is_v2);
				}
			}
		}
		line = *end ? end + 1 : end;
	}
}

static bool file_has_word(const char *dir, const char *file, const char *word)
{
	char path[1024];
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (fs_read_file(AT_FDCWD, path, TEXT_MAX, &text, NULL))
		return false;
	while (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	return list_has(text.data, text.len, ' ', word);
}

static bool enable(const char *dir, const char *controller)
{
	char path[1024], word[32];
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
	int n = snprintf(word, sizeof(word), "+%s", controller);
	CLEANUP(cleanup_fd) int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, word, (size_t)n) == n;
}

/* Does this v2 cgroup delegate the controllers to new children, and may we move a process into them? */
static bool hands_on(const char *dir, const bool *is_wanted)
{
	char procs[600];
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", dir);
	if (access(dir, W_OK) || access(procs, W_OK))
		return false;
	for (int i = 0; i < CGROUP_CORE; i++)
		if (is_wanted[i] && !file_has_word(dir, "cgroup.subtree_control", v2_name(i)) &&
				!enable(dir, v2_name(i)))
			return false;
	return true;
}

/* Searches upwards from our own cgroup. */
static bool find_v2(struct cgroup_map *m, const bool *is_wanted)
{
	char dir[512];
	snprintf(dir, sizeof(dir), "%s", m->base[CGROUP_CORE]);
	while (!hands_on(dir, is_wanted)) {
		char *slash = strrchr(dir, '/');
		if (!slash || slash == dir)
			return false;
		*slash = '\0';
		char top[600];
		snprintf(top, sizeof(top), "%s/cgroup.procs", dir);
		if (access(top, F_OK))
			return false;
	}
	snprintf(m->base[CGROUP_CORE], sizeof(m->base[CGROUP_CORE]), "%s", dir);
	for (int i = 0; i < CGROUP_CORE; i++)
		if (file_has_word(dir, "cgroup.subtree_control", v2_name(i))) {
			snprintf(m->base[i], sizeof(m->base[i]), "%s", dir);
			m->is_v2[i] = true;
		}
	return true;
}

static int refuse(int errnum, const char *controller, struct sonde_err *err)
{
	int rc = *controller ? err_sys(err, errnum, "cannot create a cgroup with the controller '%s'", controller)
			     : err_sys(err, errnum, "cannot create a cgroup");
	if (errnum == ENOENT || errnum == ENOTSUP)
		err_hint(err, "the kernel or the container offers none here: see /proc/self/cgroup");
	else if (geteuid())
		err_hint(err, "run as root, or within 'systemd-run --user --scope -p Delegate=yes'");
	else
		err_hint(err, "/sys/fs/cgroup must be mounted writable: with a container engine that is --privileged");
	/* -ENOENT and -EACCES are reserved for a command that is missing or not executable */
	return rc == -ENOENT ? -ENOTSUP : rc == -EACCES ? -EPERM : rc;
}

/*
 * A watched leaf needs the controllers that our own cgroup has. Our cgroup rarely can delegate them itself, because
 * it contains processes; a sibling gets the same ones. Without permission for that, a leaf without controllers is
 * enough, because no limit depends on them.
 */
static bool find_v2_watched(struct cgroup_map *m, const bool *is_wanted)
{
	static const enum cgroup_controller telling[] = { CGROUP_CPU, CGROUP_MEMORY, CGROUP_PIDS, CGROUP_IO };
	bool is_all_wanted[CGROUP_CONTROLLERS];
	memcpy(is_all_wanted, is_wanted, sizeof(is_all_wanted));
	for (size_t i = 0; i < sizeof(telling) / sizeof(*telling); i++)
		is_all_wanted[telling[i]] |= !*m->base[telling[i]] &&
				file_has_word(m->base[CGROUP_CORE], "cgroup.controllers", v2_name(telling[i]));
	return find_v2(m, is_all_wanted) || find_v2(m, is_wanted);
}

int cgroup_map_find(struct cgroup_map *m, const struct job_limits *limits, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf mounts = BUF_INIT;
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, "/proc/self/mountinfo", TEXT_MAX, &mounts, err);
	if (!rc)
		rc = fs_read_file(AT_FDCWD, "/proc/self/cgroup", TEXT_MAX, &own, err);
	if (rc)
		return rc;
	cgroup_map_parse(m, mounts.data, own.data);
	return cgroup_map_choose(m, limits, err);
}

int cgroup_map_choose(struct cgroup_map *m, const struct job_limits *limits, struct sonde_err *err)
{
	bool is_wanted[CGROUP_CONTROLLERS] = { [CGROUP_CPU] = limits->cpus > 0 || limits->cpu_weight,
		[CGROUP_MEMORY] = limits->memory_bytes,
		[CGROUP_PIDS] = limits->pids };
	bool is_v2_wanted[CGROUP_CONTROLLERS] = { false };
	bool has_any = false;
	for (int i = 0; i < CGROUP_CORE; i++) {
		is_v2_wanted[i] = is_wanted[i] && !*m->base[i];
		if (*m->base[i] && access(m->base[i], W_OK)) {
			if (is_wanted[i])
				return refuse(errno, controller_names[i], err);
			*m->base[i] = '\0';
		}
		has_any |= *m->base[i] != '\0';
	}
	if (*m->base[CGROUP_CORE] && !(limits->is_watched ? find_v2_watched : find_v2)(m, is_v2_wanted))
		*m->base[CGROUP_CORE] = '\0';
	for (int i = 0; i < CGROUP_CORE; i++)
		if (is_wanted[i] && !*m->base[i])
			return refuse(geteuid() ? EACCES : ENOTSUP, controller_names[i], err);
	return has_any || *m->base[CGROUP_CORE] ? 0 : refuse(geteuid() ? EACCES : ENOTSUP, "", err);
}

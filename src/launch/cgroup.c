#include "launch/cgroup.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/procfs.h"
#include "launch/job-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)1 << 16)
#define MOUNTS_MAX ((size_t)1 << 20)
#define PERIOD_US 100000
#define QUOTA_US_MIN 1000
#define OLD_S 60             /* older leaves are not just being set up by another process */
#define REMOVE_TRIES 2000    /* of a millisecond: the kernel releases dead members with a delay */
#define V1_SHARES_USUAL 1024 /* equals the v2 weight of 100 */
#define V1_SHARES_MIN 2
#define V1_SHARES_MAX 262144

static int write_value(const char *dir, const char *file, const char *value)
{
	char path[1024];
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	CLEANUP(cleanup_fd) int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return write(fd, value, strlen(value)) < 0 ? -errno : 0;
}

/* The number of a file of one number (key NULL) or of this key; -1 if it is missing. */
static int64_t read_number(const char *dir, const char *file, const char *key)
{
	char path[1024], text[4096];
	uint64_t value;
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return proc_read(AT_FDCWD, path, text, sizeof(text)) > 0 && proc_number(text, key, 0, &value) ? (int64_t)value
												      : -1;
}

/* Removes leaves of creators that died. rmdir fails on a leaf that is in use. */
static void remove_stale(const char *base)
{
	CLEANUP(cleanup_dir) DIR *dir = opendir(base);
	for (const struct dirent *e; dir && (e = readdir(dir));) {
		int pid;
		struct stat st;
		if (sscanf(e->d_name, "sonde-%d-", &pid) == 1 && pid > 0 && kill(pid, 0) && errno == ESRCH &&
				!fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
				st.st_mtime < time(NULL) - OLD_S)
			unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
	}
}

/* The directory that was already created for an earlier controller. */
static char *made_before(const struct cgroup_leaf *leaf, int upto, const char *path)
{
	for (int i = 0; i < upto; i++)
		if (leaf->dir[i] && !strcmp(leaf->dir[i], path))
			return leaf->dir[i];
	return NULL;
}

static int create_dir(struct cgroup_leaf *leaf, int i, const struct cgroup_map *m, unsigned number,
		struct sonde_err *err)
{
	char path[600];
	snprintf(path, sizeof(path), "%s/sonde-%d-%u", m->base[i], (int)getpid(), number);
	leaf->is_v2[i] = m->is_v2[i];
	bool is_new = !made_before(leaf, i, path);
	if (is_new)
		remove_stale(m->base[i]);
	if (is_new && mkdir(path, 0755))
		return err_sys(err, errno, "cannot create the cgroup '%s'", path);
	leaf->dir[i] = strdup(path);
	if (!leaf->dir[i]) {
		rmdir(path);
		return err_sys(err, ENOMEM, "cannot create a cgroup");
	}
	if (!is_new)
		return 0;
	if (m->is_v2[i]) {
		leaf->v2_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return leaf->v2_fd < 0 ? err_sys(err, errno, "cannot open '%s'", path) : 0;
	}
	strncat(path, "/cgroup.procs", sizeof(path) - strlen(path) - 1);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "cannot open '%s'", path);
	leaf->join_fds[leaf->join_count++] = fd;
	return 0;
}

int cgroup_leaf_make(struct cgroup_leaf *leaf, const struct job_limits *limits, struct sonde_err *err)
{
	static atomic_uint count;
	struct cgroup_map map;
	unsigned number = atomic_fetch_add(&count, 1);
	*leaf = (struct cgroup_leaf){ .v2_fd = -1 };
	int rc = cgroup_map_find(&map, limits, err);
	for (int i = 0; i < CGROUP_CONTROLLERS && !rc; i++)
		if (*map.base[i])
			rc = create_dir(leaf, i, &map, number, err);
	if (!rc)
		rc = cgroup_leaf_limit(leaf, limits, err);
	if (rc)
		cgroup_leaf_remove(leaf, NULL);
	return rc == -ENOENT || rc == -EACCES ? -EPERM : rc; /* not to be confused with the command's failure */
}

struct setting {
	enum cgroup_controller controller;
	bool is_v2, is_optional;
	const char *file;
	char value[64];
};

static unsigned shares_of(unsigned weight)
{
	uint64_t shares = (uint64_t)weight * V1_SHARES_USUAL / 100;
	return (unsigned)(shares < V1_SHARES_MIN ? V1_SHARES_MIN : shares > V1_SHARES_MAX ? V1_SHARES_MAX : shares);
}

static int64_t quota_of(double cpus)
{
	double us = cpus * PERIOD_US;
	return us < QUOTA_US_MIN ? QUOTA_US_MIN : (int64_t)us;
}

static void number_or(char *out, size_t size, bool is_number, uint64_t number, const char *otherwise)
{
	if (is_number)
		snprintf(out, size, "%" PRIu64, number);
	else
		snprintf(out, size, "%s", otherwise);
}

static int apply(const struct cgroup_leaf *leaf, const struct setting *s, struct sonde_err *err)
{
	const char *dir = leaf->dir[s->controller];
	if (!dir || leaf->is_v2[s->controller] != s->is_v2 || !*s->value)
		return 0;
	int rc = write_value(dir, s->file, s->value);
	if (!rc || s->is_optional)
		return 0;
	return err_sys(err, -rc, "cannot set '%s/%s' to %s", dir, s->file, s->value);
}

int cgroup_leaf_limit(const struct cgroup_leaf *leaf, const struct job_limits *limits, struct sonde_err *err)
{
	/* v1 requires memory+swap >= memory at any time: raise the limit first, then set both. */
	struct setting all[] = {
		{ CGROUP_CPU, false, false, "cpu.cfs_period_us", "100000" },
		{ CGROUP_CPU, false, false, "cpu.cfs_quota_us", "" },
		{ CGROUP_CPU, false, false, "cpu.shares", "" },
		{ CGROUP_MEMORY, false, true, "memory.memsw.limit_in_bytes", "-1" },
		{ CGROUP_MEMORY, false, false, "memory.limit_in_bytes", "" },
		{ CGROUP_MEMORY, false, true, "memory.memsw.limit_in_bytes", "" },
		{ CGROUP_PIDS, false, false, "pids.max", "" },
		{ CGROUP_CPU, true, false, "cpu.max", "" },
		{ CGROUP_CPU, true, false, "cpu.weight", "" },
		{ CGROUP_MEMORY, true, false, "memory.max", "" },
		{ CGROUP_MEMORY, true, true, "memory.swap.max", "" },
		{ CGROUP_PIDS, true, false, "pids.max", "" },
	};
	enum { WIDTH = sizeof(all[0].value) };
	bool has_cpus = limits->cpus > 0, has_memory = limits->memory_bytes;
	uint64_t quota = has_cpus ? (uint64_t)quota_of(limits->cpus) : 0;
	number_or(all[1].value, WIDTH, has_cpus, quota, "-1");
	number_or(all[2].value, WIDTH, limits->cpu_weight, shares_of(limits->cpu_weight), "");
	number_or(all[4].value, WIDTH, has_memory, limits->memory_bytes, "-1");
	number_or(all[5].value, WIDTH, has_memory, limits->memory_bytes, "-1");
	number_or(all[6].value, WIDTH, limits->pids, limits->pids, "max");
	number_or(all[7].value, WIDTH, has_cpus, quota, "max");
	strncat(all[7].value, " 100000", WIDTH - strlen(all[7].value) - 1);
	number_or(all[8].value, WIDTH, limits->cpu_weight, limits->cpu_weight, "");
	number_or(all[9].value, WIDTH, has_memory, limits->memory_bytes, "max");
	snprintf(all[10].value, WIDTH, "%s", has_memory ? "0" : "max");
	number_or(all[11].value, WIDTH, limits->pids, limits->pids, "max");
	int rc = 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && !rc; i++)
		rc = apply(leaf, &all[i], err);
	return rc;
}

static void set_known(int64_t *place, int64_t value, int64_t scale)
{
	if (value >= 0)
		*place = value * scale;
}

void cgroup_leaf_usage(const struct cgroup_leaf *leaf, struct job_usage *usage)
{
	const char *core = leaf->dir[CGROUP_CORE], *memory = leaf->dir[CGROUP_MEMORY];
	if (core) {
		set_known(&usage->user_ns, read_number(core, "cpu.stat", "user_usec"), 1000);
		set_known(&usage->system_ns, read_number(core, "cpu.stat", "system_usec"), 1000);
	} else if (leaf->dir[CGROUP_CPUACCT]) {
		set_known(&usage->user_ns, read_number(leaf->dir[CGROUP_CPUACCT], "cpuacct.usage_user", NULL), 1);
		set_known(&usage->system_ns, read_number(leaf->dir[CGROUP_CPUACCT], "cpuacct.usage_sys", NULL), 1);
	}
	if (!memory)
		return;
	bool is_v2 = leaf->is_v2[CGROUP_MEMORY];
	set_known(&usage->max_rss_bytes, read_number(memory, is_v2 ? "memory.peak" : "memory.max_usage_in_bytes", NULL),
			1);
	usage->oom_kills = read_number(memory, is_v2 ? "memory.events" : "memory.oom_control", "oom_kill");
}

int64_t cgroup_own_oom_kills(void)
{
	CLEANUP(buf_release) struct buf mounts = BUF_INIT;
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	struct cgroup_map m;
	if (fs_read_file(AT_FDCWD, "/proc/self/mountinfo", MOUNTS_MAX, &mounts, NULL) ||
			fs_read_file(AT_FDCWD, "/proc/self/cgroup", TEXT_MAX, &own, NULL))
		return -1;
	cgroup_map_parse(&m, mounts.data, own.data);
	if (*m.base[CGROUP_MEMORY])
		return read_number(m.base[CGROUP_MEMORY], "memory.oom_control", "oom_kill");
	return *m.base[CGROUP_CORE] ? read_number(m.base[CGROUP_CORE], "memory.events", "oom_kill") : -1;
}

int cgroup_leaf_kill(const struct cgroup_leaf *leaf)
{
	return leaf->dir[CGROUP_CORE] ? write_value(leaf->dir[CGROUP_CORE], "cgroup.kill", "1") : -ENOTSUP;
}

/* Children are removed before their parent. */
static int remove_groups(int at, const char *name, int depth)
{
	int rc = unlinkat(at, name, AT_REMOVEDIR) ? -errno : 0;
	if (!rc || rc == -ENOENT)
		return 0;
	int fd = depth ? openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	CLEANUP(cleanup_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	for (const struct dirent *e; dir && (e = readdir(dir));)
		if (e->d_type == DT_DIR && strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			remove_groups(fd, e->d_name, depth - 1);
	return unlinkat(at, name, AT_REMOVEDIR) && errno != ENOENT ? -errno : 0;
}

static int remove_dir(const char *path)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int rc = remove_groups(AT_FDCWD, path, 16);
	for (int i = 0; i < REMOVE_TRIES && rc == -EBUSY; i++) {
		nanosleep(&pause, NULL);
		rc = remove_groups(AT_FDCWD, path, 16);
	}
	return rc;
}

int cgroup_leaf_remove(struct cgroup_leaf *leaf, struct sonde_err *err)
{
	int rc = 0;
	for (size_t i = 0; i < leaf->join_count; i++)
		close(leaf->join_fds[i]);
	if (leaf->v2_fd >= 0)
		close(leaf->v2_fd);
	for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
		int failed = leaf->dir[i] ? remove_dir(leaf->dir[i]) : 0;
		if (failed)
			rc = err_sys(err, -failed, "cannot remove the control group '%s'", leaf->dir[i]);
		free(leaf->dir[i]);
	}
	*leaf = (struct cgroup_leaf){ .v2_fd = -1 };
	return rc;
}

/* Jobs in a cgroup. */

static int check(const struct job_isolation *place, struct sonde_err *err)
{
	struct cgroup_map map;
	return cgroup_map_find(&map, &place->limits, err);
}

static int prepare(struct job *j, const struct job_spec *spec, struct supervisor_plan *plan, struct sonde_err *err)
{
	struct cgroup_leaf *leaf = calloc(1, sizeof(*leaf));
	if (!leaf)
		return err_sys(err, ENOMEM, "cannot create a cgroup");
	int rc = cgroup_leaf_make(leaf, &spec->place->limits, err);
	if (rc) {
		free(leaf);
		return rc;
	}
	j->place = leaf;
	plan->cgroup_fd = leaf->v2_fd;
	plan->join_fds = leaf->join_fds;
	plan->join_count = leaf->join_count;
	return 0;
}

static void kill_leaf(struct job *j)
{
	cgroup_leaf_kill(j->place);
}

static void usage(const struct job *j, struct job_usage *u)
{
	cgroup_leaf_usage(j->place, u);
}

static int release(struct job *j, struct sonde_err *err)
{
	int rc = j->place ? cgroup_leaf_remove(j->place, err) : 0;
	free(j->place);
	j->place = NULL;
	return rc;
}

const struct isolation_ops isolation_cgroup = {
	.check = check,
	.prepare = prepare,
	.kill = kill_leaf,
	.usage = usage,
	.release = release,
};

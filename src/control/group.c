/* See group.h. */
#include "control/group.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 20)
#define PERIOD_US 100000.0
#define SHARES_A_WEIGHT 10.24 /* 1024 shares are a weight of 100 */

struct row {
	enum action_kind kind;
	enum cgroup_controller controller; /* of v1 */
	const char *v1_file, *v2_file;
};

static const struct row rows[] = {
	{ ACTION_WEIGHT, CGROUP_CPU, "cpu.shares", "cpu.weight" },
	{ ACTION_CAP, CGROUP_CPU, "cpu.cfs_quota_us", "cpu.max" },
	{ ACTION_IO, CGROUP_CORE, NULL, "io.weight" },
	{ ACTION_HIGH, CGROUP_MEMORY, "memory.soft_limit_in_bytes", "memory.high" },
	{ ACTION_MEMORY, CGROUP_MEMORY, "memory.limit_in_bytes", "memory.max" },
	{ ACTION_PIDS, CGROUP_PIDS, "pids.max", "pids.max" },
	{ ACTION_FREEZE, CGROUP_CORE, NULL, "cgroup.freeze" },
	{ ACTION_THAW, CGROUP_CORE, NULL, "cgroup.freeze" },
};

static int read_map(struct cgroup_map *m, const char *own, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf mounts = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, "/proc/self/mountinfo", TEXT_MAX, &mounts, err);

	if (rc == 0)
		cgroup_map_parse(m, mounts.data, own);
	return rc;
}

/* Never our own group, and so never the root that holds us. */
static int check_not_ours(const struct cgroup_map *m, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	struct cgroup_map ours;
	int rc = fs_read_file(AT_FDCWD, "/proc/self/cgroup", TEXT_MAX, &own, err);

	if (rc == 0)
		rc = read_map(&ours, own.data, err);
	for (size_t i = 0; rc == 0 && i < CGROUP_CONTROLLERS; i++)
		if (*m->base[i] && strncmp(ours.base[i], m->base[i], strlen(m->base[i])) == 0)
			return err_set(err, EPERM, "the application has no control group but ours, '%s'", m->base[i]);
	return rc;
}

static int check_made_by_us(const struct cgroup_map *m, struct sonde_err *err)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		const char *last = strrchr(m->base[i], '/');

		if (*m->base[i] && (!last || strncmp(last, "/sonde-", 7) != 0))
			return err_set(err, EPERM, "the control group '%s' is not ours to set: name it under 'apps'",
					m->base[i]);
	}
	return 0;
}

/* Controllers whose hierarchy has no leaf for the application leave it in our own group: not usable, not wrong. */
static void leave_out_shared(struct cgroup_map *m)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	struct cgroup_map ours;

	if (fs_read_file(AT_FDCWD, "/proc/self/cgroup", TEXT_MAX, &own, NULL) < 0 ||
			read_map(&ours, own.data, NULL) < 0)
		return;
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (strcmp(ours.base[i], m->base[i]) == 0)
			m->base[i][0] = '\0';
}

static bool is_empty(const struct cgroup_map *m)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (*m->base[i])
			return false;
	return true;
}

int group_of_process(struct cgroup_map *m, pid_t pid, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	rc = fs_read_file(AT_FDCWD, path, TEXT_MAX, &own, err);
	if (rc == 0)
		rc = read_map(m, own.data, err);
	if (rc < 0)
		return rc;
	leave_out_shared(m);
	if (is_empty(m)) {
		err_set(err, EPERM, "the application has no control group of its own");
		err_hint(err, "start it with 'sonde live run --group', or name its group under 'apps'");
		return -EPERM;
	}
	return check_made_by_us(m, err);
}

int group_of_path(struct cgroup_map *m, const char *path, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	int rc;

	if (path[0] != '/' || !path[1] || strstr(path, ".."))
		return err_set(err, EINVAL, "'%s' is not the path of a control group below the root", path);
	buf_addf(&own, "1:cpu:%s\n2:cpuacct:%s\n3:memory:%s\n4:pids:%s\n0::%s\n", path, path, path, path, path);
	rc = read_map(m, own.data, err);
	for (size_t i = 0; rc == 0 && i < CGROUP_CONTROLLERS; i++)
		if (*m->base[i] && access(m->base[i], F_OK) != 0)
			m->base[i][0] = '\0';
	if (rc == 0 && is_empty(m))
		return err_set(err, ENOENT, "there is no control group '%s'", path);
	return rc < 0 ? rc : check_not_ours(m, err);
}

int group_place(const struct cgroup_map *m, enum action_kind kind, struct change_place *place, struct sonde_err *err)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *v1 = m->base[rows[i].controller], *v2 = m->base[CGROUP_CORE];
		bool is_v1 = rows[i].v1_file && *v1 && !m->is_v2[rows[i].controller];

		if (rows[i].kind != kind)
			continue;
		*place = (struct change_place){ .kind = CHANGE_FILE };
		snprintf(place->path, sizeof(place->path), "%.300s/%s", is_v1 ? v1 : v2,
				is_v1 ? rows[i].v1_file : rows[i].v2_file);
		if ((is_v1 || *v2) && access(place->path, W_OK) == 0)
			return 0;
		return err_set(err, ENOTSUP, "the application's control group cannot do '%s' here", action_word(kind));
	}
	return err_set(err, EINVAL, "'%s' is not about control groups", action_word(kind));
}

static bool is_file(const struct change_place *place, const char *name)
{
	const char *last = strrchr(place->path, '/');

	return last && strcmp(last + 1, name) == 0;
}

void group_text(const struct change_place *place, enum action_kind kind, double value, char text[CHANGE_TEXT_BYTES])
{
	if (kind == ACTION_FREEZE || kind == ACTION_THAW)
		snprintf(text, CHANGE_TEXT_BYTES, "%d", kind == ACTION_FREEZE);
	else if (kind == ACTION_IO)
		snprintf(text, CHANGE_TEXT_BYTES, "default %.0f", value);
	else if (is_file(place, "cpu.shares"))
		snprintf(text, CHANGE_TEXT_BYTES, "%.0f", fmax(2, value * SHARES_A_WEIGHT));
	else if (is_file(place, "cpu.cfs_quota_us"))
		snprintf(text, CHANGE_TEXT_BYTES, "%.0f", fmax(1000, value * PERIOD_US));
	else if (is_file(place, "cpu.max"))
		snprintf(text, CHANGE_TEXT_BYTES, "%.0f %.0f", fmax(1000, value * PERIOD_US), PERIOD_US);
	else
		snprintf(text, CHANGE_TEXT_BYTES, "%.0f", value);
}

double group_value(const struct change_place *place, enum action_kind kind, const char *text)
{
	static const char usual[] = "default "; /* of io.weight */
	char *end;
	double value;

	if (strncmp(text, usual, sizeof(usual) - 1) == 0)
		text += sizeof(usual) - 1;
	value = strtod(text, &end);
	if (end == text || value < 0)
		return INFINITY;
	if (kind == ACTION_WEIGHT)
		return is_file(place, "cpu.shares") ? value / SHARES_A_WEIGHT : value;
	return kind == ACTION_CAP ? value / PERIOD_US : value;
}

size_t group_processes(const struct cgroup_map *m, pid_t *pids, size_t max)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[600];
	size_t n = 0, i = CGROUP_CORE;

	if (!*m->base[i])
		for (i = 0; i < CGROUP_CONTROLLERS - 1 && !*m->base[i];)
			i++;
	snprintf(path, sizeof(path), "%s/cgroup.procs", m->base[i]);
	if (fs_read_file(AT_FDCWD, path, TEXT_MAX, &text, NULL) < 0)
		return 0;
	for (const char *at = text.data; *at && n < max;) {
		char *end;
		long pid = strtol(at, &end, 10);

		if (end == at)
			break;
		if (pid > 1)
			pids[n++] = (pid_t)pid;
		at = *end ? end + 1 : end;
	}
	return n;
}

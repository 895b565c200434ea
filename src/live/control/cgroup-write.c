#include "live/control/cgroup-write.h"

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
#define SHARES_A_WEIGHT 10.24 /* 1024 shares equal a weight of 100 */
#define CFQ_A_WEIGHT 5        /* and so do 500 of CFQ, the predecessor of BFQ */

/* For each kind the first row with an existing file is used. v2's are in the core directory. */
static const struct row {
	enum action_kind kind;
	enum cgroup_controller controller;
	const char *file, *before, *after; /* the number is between these texts */
	double factor, low, high;          /* of the file's number; factor 0: no number, `before` is the whole text */
} rows[] = {
	{ ACTION_WEIGHT, CGROUP_CPU, "cpu.shares", "", "", SHARES_A_WEIGHT, 2, 262144 },
	{ ACTION_WEIGHT, CGROUP_CORE, "cpu.weight", "", "", 1, 1, 10000 },
	{ ACTION_CAP, CGROUP_CPU, "cpu.cfs_quota_us", "", "", PERIOD_US, 1000, INFINITY },
	{ ACTION_CAP, CGROUP_CORE, "cpu.max", "", " 100000", PERIOD_US, 1000, INFINITY },
	{ ACTION_IO, CGROUP_IO, "blkio.bfq.weight", "", "", 1, 1, 1000 },
	{ ACTION_IO, CGROUP_IO, "blkio.weight", "", "", CFQ_A_WEIGHT, 10, 1000 },
	{ ACTION_IO, CGROUP_CORE, "io.weight", "default ", "", 1, 1, 10000 },
	{ ACTION_IO, CGROUP_CORE, "io.bfq.weight", "default ", "", 1, 1, 1000 },
	{ ACTION_HIGH, CGROUP_MEMORY, "memory.soft_limit_in_bytes", "", "", 1, 0, INFINITY },
	{ ACTION_HIGH, CGROUP_CORE, "memory.high", "", "", 1, 0, INFINITY },
	{ ACTION_MEMORY, CGROUP_MEMORY, "memory.limit_in_bytes", "", "", 1, 0, INFINITY },
	{ ACTION_MEMORY, CGROUP_CORE, "memory.max", "", "", 1, 0, INFINITY },
	{ ACTION_PIDS, CGROUP_PIDS, "pids.max", "", "", 1, 1, INFINITY },
	{ ACTION_PIDS, CGROUP_CORE, "pids.max", "", "", 1, 1, INFINITY },
	{ ACTION_FREEZE, CGROUP_CORE, "cgroup.freeze", "1", "", 0, 0, 0 },
	{ ACTION_FREEZE, CGROUP_FREEZER, "freezer.state", "FROZEN", "", 0, 0, 0 },
	{ ACTION_THAW, CGROUP_CORE, "cgroup.freeze", "0", "", 0, 0, 0 },
	{ ACTION_THAW, CGROUP_FREEZER, "freezer.state", "THAWED", "", 0, 0, 0 },
};

static int read_map(struct cgroup_map *m, const char *own, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf mounts = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, "/proc/self/mountinfo", TEXT_MAX, &mounts, err);

	if (rc == 0)
		cgroup_map_parse(m, mounts.data, own);
	return rc;
}

/* Neither our own cgroup nor an ancestor of it may be set. */
static int check_not_ours(const struct cgroup_map *m, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	struct cgroup_map ours;
	int rc = fs_read_file(AT_FDCWD, "/proc/self/cgroup", TEXT_MAX, &own, err);

	if (rc == 0)
		rc = read_map(&ours, own.data, err);
	for (size_t i = 0; rc == 0 && i < CGROUP_CONTROLLERS; i++)
		if (*m->base[i] && strncmp(ours.base[i], m->base[i], strlen(m->base[i])) == 0)
			return err_set(err, EPERM, "the application is in sonde's own cgroup '%s'", m->base[i]);
	return rc;
}

/*
 * In a hierarchy without a leaf for the application it is in our own cgroup: skip that controller, it is not an
 * error.
 */
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
		err_set(err, EPERM, "the application has no separate cgroup");
		err_hint(err, "start it with 'sonde live run --group', or name its cgroup under 'apps'");
		return -EPERM;
	}
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		const char *last = strrchr(m->base[i], '/');

		if (*m->base[i] && (!last || strncmp(last, "/sonde-", 7) != 0))
			return err_set(err, EPERM, "the cgroup '%s' was not created by sonde: name it under 'apps'",
					m->base[i]);
	}
	return 0;
}

int group_of_path(struct cgroup_map *m, const char *path, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	int rc;

	if (path[0] != '/' || !path[1] || strstr(path, ".."))
		return err_set(err, EINVAL, "invalid cgroup path '%s'", path);
	buf_addf(&own, "1:cpu,cpuacct,memory,pids,blkio,freezer:%s\n0::%s\n", path, path);
	rc = read_map(m, own.data, err);
	for (size_t i = 0; rc == 0 && i < CGROUP_CONTROLLERS; i++)
		if (*m->base[i] && access(m->base[i], F_OK) != 0)
			m->base[i][0] = '\0';
	if (rc == 0 && is_empty(m))
		return err_set(err, ENOENT, "cgroup '%s' not found", path);
	return rc < 0 ? rc : check_not_ours(m, err);
}

int group_place(const struct cgroup_map *m, enum action_kind kind, struct change_place *place, struct sonde_err *err)
{
	bool is_known = false;

	for (const struct row *row = rows; row < rows + sizeof(rows) / sizeof(rows[0]); row++) {
		const char *dir = m->base[row->controller];
		bool is_v2 = row->controller == CGROUP_CORE;

		if (row->kind != kind)
			continue;
		is_known = true;
		*place = (struct change_place){ .kind = CHANGE_FILE };
		snprintf(place->path, sizeof(place->path), "%.300s/%s", dir, row->file);
		if (*dir && m->is_v2[row->controller] == is_v2 && access(place->path, W_OK) == 0)
			return 0;
	}
	return is_known ? err_set(err, ENOTSUP, "the application's cgroup does not support '%s'", action_word(kind))
			: err_set(err, EINVAL, "'%s' is not an action on cgroups", action_word(kind));
}

static const struct row *row_of(const struct change_place *place, enum action_kind kind)
{
	const char *last = strrchr(place->path, '/');

	for (const struct row *row = rows; last && row < rows + sizeof(rows) / sizeof(rows[0]); row++)
		if (row->kind == kind && strcmp(last + 1, row->file) == 0)
			return row;
	return NULL;
}

void group_text(const struct change_place *place, enum action_kind kind, double value, char text[CHANGE_TEXT_BYTES])
{
	const struct row *row = row_of(place, kind);

	text[0] = '\0';
	if (row && !row->factor)
		snprintf(text, CHANGE_TEXT_BYTES, "%s", row->before);
	else if (row)
		snprintf(text, CHANGE_TEXT_BYTES, "%s%.0f%s", row->before,
				fmin(fmax(value * row->factor, row->low), row->high), row->after);
}

double group_value(const struct change_place *place, enum action_kind kind, const char *text)
{
	const struct row *row = row_of(place, kind);
	size_t n = row && row->factor ? strlen(row->before) : 0;
	char *end;
	double value;

	if (n && strncmp(text, row->before, n) == 0)
		text += n;
	value = strtod(text, &end);
	if (end == text || value < 0)
		return INFINITY;
	return row && row->factor ? value / row->factor : value;
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

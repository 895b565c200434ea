/*
 * The setup steps: values of /proc/sys files, a mount, a group, and the capability of a helper for that group.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "doctor/setup.h"
#include "launch/spawn-command.h"
#include "probe/probe.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <jansson.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define VERSION 1
#define FILE_BYTES_MAX 65536
#define CHANGES_MAX (sizeof(((struct setup_record *)0)->changes) / sizeof(struct setup_change))
#define VALUE_BYTES_MAX 256
#define NOBODY 65534
#define RIGHT_NAME "security.capability"

/*
 * The record of changes, a small JSON file:
 *
 *	{ "version": 1, "changes": [ { "step": "perf", "before": "2", "after": "1" } ] }
 */

static void release_json(json_t **value)
{
	json_decref(*value);
}

static int broken(const char *path, const char *why, struct sonde_err *err)
{
	err_set(err, EBADMSG, "'%s' is not a record of changes: %s", path, why);
	err_hint(err, "move the file away; the values it held cannot be restored by --undo then");
	return -EBADMSG;
}

static int parse_change(struct setup_record *record, json_t *value, struct arena *arena)
{
	const char *id, *before, *after;

	if (json_unpack(value, "{s:s, s:s, s:s}", "step", &id, "before", &before, "after", &after))
		return -EBADMSG;
	id = arena_strdup(arena, id);
	before = arena_strdup(arena, before);
	after = arena_strdup(arena, after);
	return id && before && after ? setup_record_add(record, id, before, after) : -ENOMEM;
}

int setup_record_load(struct setup_record *record, const char *path, struct arena *arena, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(release_json) json_t *root = NULL;
	json_t *changes;
	json_error_t why;
	int version, rc = fs_read_file(AT_FDCWD, path, FILE_BYTES_MAX, &text, err);

	*record = (struct setup_record){ .count = 0 };
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	root = json_loadb(text.data, text.len, 0, &why);
	if (!root || json_unpack_ex(root, &why, 0, "{s:i, s:o}", "version", &version, "changes", &changes))
		return broken(path, why.text, err);
	if (version != VERSION)
		return broken(path, "it is of another version of sonde", err);
	for (size_t i = 0; i < json_array_size(changes) && !rc; i++)
		rc = parse_change(record, json_array_get(changes, i), arena);
	return rc ? broken(path, "a change lacks its values", err) : 0;
}

int setup_record_save(const struct setup_record *record, const char *path, struct sonde_err *err)
{
	CLEANUP(release_json) json_t *root = json_pack("{s:i, s:[]}", "version", VERSION, "changes");
	CLEANUP(cleanup_free) char *text = NULL;
	int rc = 0;

	if (record->count == 0)
		return unlink(path) == 0 || errno == ENOENT ? 0 : err_sys(err, errno, "cannot remove '%s'", path);
	for (size_t i = 0; i < record->count && !rc; i++) {
		const struct setup_change *change = &record->changes[i];

		rc = json_array_append_new(json_object_get(root, "changes"),
				json_pack("{s:s, s:s, s:s}", "step", change->id, "before", change->before, "after",
						change->after));
	}
	text = rc ? NULL : json_dumps(root, JSON_INDENT(2));
	if (!text)
		return err_sys(err, ENOMEM, "cannot write '%s'", path);
	CLEANUP(buf_release) struct buf dir = BUF_INIT;

	buf_add(&dir, path, (size_t)(strrchr(path, '/') - path));
	rc = fs_mkdir_p(dir.data, 0755, err);
	return rc ? rc : fs_replace_file(AT_FDCWD, path, text, strlen(text), err);
}

int setup_record_add(struct setup_record *record, const char *id, const char *before, const char *after)
{
	struct setup_change *change = setup_record_find(record, id);

	if (!change && record->count == CHANGES_MAX)
		return -ENOSPC;
	if (!change) {
		change = &record->changes[record->count++];
		*change = (struct setup_change){ .id = id, .before = before };
	}
	change->after = after;
	return 0;
}

struct setup_change *setup_record_find(struct setup_record *record, const char *id)
{
	for (size_t i = 0; i < record->count; i++)
		if (strcmp(record->changes[i].id, id) == 0)
			return &record->changes[i];
	return NULL;
}

void setup_record_remove(struct setup_record *record, const char *id)
{
	struct setup_change *change = setup_record_find(record, id);

	if (!change)
		return;
	record->count--;
	memmove(change, change + 1, (size_t)(record->changes + record->count - change) * sizeof(*change));
}

static bool is_at_most(const struct setup_target *t, const char *now)
{
	return strtol(now, NULL, 10) <= strtol(t->wanted, NULL, 10);
}

static bool is_equal(const struct setup_target *t, const char *now)
{
	return strcmp(now, t->wanted) == 0;
}

static int sysctl_read(const struct setup_target *t, struct buf *now, struct sonde_err *err)
{
	int rc = fs_read_file(AT_FDCWD, t->path, VALUE_BYTES_MAX, now, err);

	if (rc)
		return rc;
	while (now->len && strchr(" \t\n", now->data[now->len - 1]))
		now->data[--now->len] = '\0';
	return 0;
}

static int sysctl_write(const struct setup_target *t, const char *value, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = open(t->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	int rc = fd < 0 ? -errno : fs_write_all(fd, value, strlen(value));

	return rc ? err_sys(err, -rc, "cannot write '%s' to '%s'", value, t->path) : 0;
}

static const char mounted[] = "mounted";
static const char not_mounted[] = "not mounted";

static int tracefs_read(const struct setup_target *t, struct buf *now, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf events = BUF_INIT;

	if (access(t->path, F_OK) != 0)
		return err_sys(err, errno, "cannot find '%s'", t->path);
	buf_addf(&events, "%s/events", t->path);
	buf_adds(now, access(events.data, F_OK) == 0 ? mounted : not_mounted);
	return 0;
}

static int tracefs_write(const struct setup_target *t, const char *value, struct sonde_err *err)
{
	if (strcmp(value, mounted) == 0) {
		if (mount("tracefs", t->path, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
			return err_sys(err, errno, "cannot mount tracefs on '%s'", t->path);
	} else if (umount2(t->path, UMOUNT_NOFOLLOW) != 0) {
		return err_sys(err, errno, "cannot unmount '%s'", t->path);
	}
	return 0;
}

/* Groups of the machine, or of the group file below another root. */

static const struct group *find_group(const char *root, const char *name, gid_t gid)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	struct group *g;
	FILE *file;

	if (!*root)
		return name ? getgrnam(name) : getgrgid(gid);
	buf_addf(&path, "%s/etc/group", root);
	file = fopen(path.data, "re");
	while (file && (g = fgetgrent(file)))
		if (name ? strcmp(g->gr_name, name) == 0 : g->gr_gid == gid)
			break;
	if (!file)
		return NULL;
	fclose(file); /* the entry is in static memory of the C library */
	return g;
}

static const char group_there[] = "present";
static const char group_missing[] = "missing";

/* Returns the part after the last blank or colon of a value. */
static const char *group_of(const char *value)
{
	const char *at = value + strlen(value);

	while (at > value && !strchr(" :", at[-1]))
		at--;
	return at;
}

static int group_read(const struct setup_target *t, struct buf *now, struct sonde_err *err)
{
	const char *name = group_of(t->wanted);

	if (access(t->path, F_OK) != 0)
		return err_sys(err, errno, "cannot find '%s'", t->path);
	buf_addf(now, "%s %s", find_group(t->root, name, 0) ? group_there : group_missing, name);
	return 0;
}

static int run_program(char *const *argv, struct sonde_err *err)
{
	static char *const env[] = { NULL };
	struct launch_command c = { .argv = argv, .env = env, .fds = { JOB_FD_OURS, JOB_FD_OURS, JOB_FD_OURS } };
	int status = launch_run(&c, err);

	return status > 0 ? err_set(err, EIO, "'%s' failed", argv[0]) : status;
}

static int group_write(const struct setup_target *t, const char *value, struct sonde_err *err)
{
	bool is_new = strncmp(value, group_there, sizeof(group_there) - 1) == 0;
	char add[] = "/usr/sbin/groupadd", del[] = "/usr/sbin/groupdel", prefix[] = "--prefix", system[] = "--system",
	     end[] = "--";
	CLEANUP(cleanup_free) char *root = strdup(t->root), *name = strdup(group_of(value));
	char *argv[7] = { is_new ? add : del };
	size_t n = 1;

	if (!root || !name)
		return err_sys(err, ENOMEM, "cannot change groups");
	if (is_new)
		argv[n++] = system;
	if (*root) {
		argv[n++] = prefix;
		argv[n++] = root;
	}
	argv[n++] = end;
	argv[n] = name;
	return run_program(argv, err);
}

/* A program's file capability, its mode and its owners: "cap_net_raw 0750 0:GROUP". */

static const char has_right[] = "cap_net_raw";
static const char no_right[] = "none";

static int right_read(const struct setup_target *t, struct buf *now, struct sonde_err *err)
{
	struct vfs_ns_cap_data right = { 0 };
	const struct group *group;
	struct stat st;
	ssize_t n = getxattr(t->path, RIGHT_NAME, &right, sizeof(right));

	if ((n < 0 && errno != ENODATA && errno != EOPNOTSUPP) || stat(t->path, &st) != 0)
		return err_sys(err, errno, "cannot read the rights of '%s'", t->path);
	if (n > 0)
		buf_adds(now,
				le32toh(right.data[0].permitted) == 1u << CAP_NET_RAW && !right.data[1].permitted
						? has_right
						: "others");
	else
		buf_adds(now, no_right);
	group = find_group(t->root, NULL, st.st_gid);
	buf_addf(now, " %04o %u:", st.st_mode & 07777, (unsigned)st.st_uid);
	if (group)
		buf_adds(now, group->gr_name);
	else
		buf_addf(now, "%u", (unsigned)st.st_gid);
	return 0;
}

/* Sets the mode and the owners of a value. A value recorded by an earlier sonde has none; they stay unchanged. */
static int owners_write(const struct setup_target *t, const char *value, struct sonde_err *err)
{
	const char *name = group_of(value);
	const struct group *group = find_group(t->root, name, 0);
	char *end;
	unsigned mode, uid;
	unsigned long gid = group ? group->gr_gid : strtoul(name, &end, 10);

	if (sscanf(value, "%*s %o %u:", &mode, &uid) != 2)
		return 0;
	if (!group && (end == name || *end))
		return err_set(err, ENOENT, "unknown group '%s'", name);
	if (chown(t->path, uid, (gid_t)gid) != 0 || chmod(t->path, mode) != 0)
		return err_sys(err, errno, "cannot give '%s' to the group '%s'", t->path, name);
	return 0;
}

/* The capability exists only while the group's mode is set: it is set last and removed first. chown removes it too. */
static int right_write(const struct setup_target *t, const char *value, struct sonde_err *err)
{
	struct vfs_cap_data right = { .magic_etc = htole32(VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE),
		.data[0].permitted = htole32(1u << CAP_NET_RAW) };
	int rc = removexattr(t->path, RIGHT_NAME) != 0 && errno != ENODATA && errno != EOPNOTSUPP;

	if (rc)
		return err_sys(err, errno, "cannot remove the rights of '%s'", t->path);
	rc = owners_write(t, value, err);
	if (rc || strncmp(value, has_right, sizeof(has_right) - 1) != 0)
		return rc;
	rc = setxattr(t->path, RIGHT_NAME, &right, sizeof(right), 0);
	return rc ? err_sys(err, errno, "cannot set the rights of '%s'", t->path) : 0;
}

/* Tries as an ordinary user of the group, in a child that cannot regain its privileges. */
static int right_verify(const struct setup_target *t, struct sonde_err *err)
{
	struct stat st;
	int status = 0;
	pid_t child = stat(t->path, &st) ? -1 : fork();

	if (child == 0)
		_exit(setgroups(1, &st.st_gid) || setresgid(NOBODY, NOBODY, NOBODY) ||
				setresuid(NOBODY, NOBODY, NOBODY) || probe_packets_check(NULL));
	if (child < 0 || waitpid(child, &status, 0) != child)
		return err_sys(err, errno, "cannot try the helper");
	if (status == 0)
		return 0;
	err_set(err, EPERM, "the right is set, but an ordinary user of the group cannot capture packets");
	err_hint(err, "a file system mounted nosuid ignores rights, and so does a directory that users may not enter");
	return -EPERM;
}

static const char no_kernel[] = "this kernel does not offer it";

const struct setup_step setup_steps[] = {
	{ "perf", "let users sample their programs and the kernel on their behalf",
			"/proc/sys/kernel/perf_event_paranoid", no_kernel, "1", .is_enough = is_at_most,
			.read = sysctl_read, .write = sysctl_write },
	{ "tracefs", "mount tracefs, which lists the kernel's tracepoints", "/sys/kernel/tracing", no_kernel, mounted,
			.is_enough = is_equal, .read = tracefs_read, .write = tracefs_write },
	{ "delays", "account the delays of tasks by cause", "/proc/sys/kernel/task_delayacct", no_kernel, "1",
			.is_enough = is_equal, .read = sysctl_read, .write = sysctl_write },
	{ "group", "create the group of users who may capture packets", "/etc/group",
			"this system has no file of groups", "present ", .is_for_group = true, .is_enough = is_equal,
			.read = group_read, .write = group_write },
	{ "packets", "let the group capture headers of packets, by a helper that can do nothing else",
			PROBE_CAPTURE_HELPER, "it is not installed", "cap_net_raw 0750 0:", .is_ours = true,
			.is_for_group = true, .is_enough = is_equal, .read = right_read, .write = right_write,
			.verify = right_verify },
	{ NULL },
};

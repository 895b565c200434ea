#include "fleet/fleet-dir.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <jansson.h>

#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>

enum { HOME_FILE_MAX = 1 << 20 };

static const char *usual_dir(struct arena *arena)
{
	const char *own = getenv("SONDE_FLEET_DIR"), *state = getenv("XDG_STATE_HOME"), *user = getenv("HOME");

	if (own && *own)
		return own;
	if (state && *state == '/')
		return arena_printf(arena, "%s/sonde/fleet", state);
	return arena_printf(arena, "%s/.local/state/sonde/fleet", user && *user ? user : "/root");
}

static const char *absolute(struct arena *arena, const char *dir)
{
	CLEANUP(cleanup_free) char *here = NULL;

	if (!dir || *dir == '/')
		return dir;
	here = getcwd(NULL, 0);
	return here ? arena_printf(arena, "%s/%s", here, dir) : NULL;
}

static void parse_process(struct fleet_dir *home, const json_t *row)
{
	struct fleet_process *p = &home->processes[home->count];
	const char *role = json_string_value(json_object_get(row, "role"));
	json_int_t pid = json_integer_value(json_object_get(row, "pid"));

	if (!role || pid <= 1 || pid > INT32_MAX || home->count == FLEET_PROCESSES_MAX)
		return;
	snprintf(p->role, sizeof(p->role), "%s", role);
	p->pid = (pid_t)pid;
	p->start_ticks = (uint64_t)json_integer_value(json_object_get(row, "start_ticks"));
	home->count++;
}

static const char *copy_of(struct arena *arena, const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? arena_strdup(arena, text) : NULL;
}

static void parse_member(struct fleet_dir *home, const json_t *row, struct arena *arena)
{
	struct fleet_host m = { .host = copy_of(arena, row, "host"),
		.shell = copy_of(arena, row, "shell"),
		.sonde = copy_of(arena, row, "sonde"),
		.label = copy_of(arena, row, "label"),
		.agents = json_integer_value(json_object_get(row, "agents")) };

	if (m.host && m.shell && m.sonde && home->member_count < FLEET_MEMBERS_MAX)
		home->members[home->member_count++] = m;
}

static int take_address(struct fleet_dir *home, const json_t *root, struct arena *arena)
{
	const char *url = copy_of(arena, root, "url"), *token = copy_of(arena, root, "token");

	if (!url || !token)
		return -EINVAL;
	home->url = url;
	home->token = token;
	return 0;
}

static int parse(struct fleet_dir *home, const struct buf *text, struct arena *arena, struct sonde_err *err)
{
	json_t *root = json_loadb(text->data, text->len, 0, NULL);
	const json_t *rows = json_object_get(root, "processes"), *members = json_object_get(root, "members");
	int rc = take_address(home, root, arena);

	home->member = copy_of(arena, root, "member");
	for (size_t i = 0; i < json_array_size(rows) && rc == 0; i++)
		parse_process(home, json_array_get(rows, i));
	for (size_t i = 0; i < json_array_size(members) && rc == 0; i++)
		parse_member(home, json_array_get(members, i), arena);
	if (rc < 0)
		rc = err_set(err, EINVAL, "invalid '%s/fleet.json'", home->dir);
	json_decref(root);
	return rc;
}

int fleet_dir_join(struct fleet_dir *home, const char *text, size_t len, const char *member, struct arena *arena,
		struct sonde_err *err)
{
	json_t *root = json_loadb(text, len, 0, NULL);
	int rc = take_address(home, root, arena);

	json_decref(root);
	if (rc < 0)
		return err_set(err, EINVAL, "invalid fleet address and token");
	home->member = member;
	return 0;
}

const char *fleet_dir_of_host(const char *dir, const char *name, struct arena *arena)
{
	const char *base = absolute(arena, dir ? dir : usual_dir(arena));

	return base ? arena_printf(arena, "%s/members/%s", base, name) : NULL;
}

int fleet_dir_load(struct fleet_dir *home, const char *dir, struct arena *arena, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *path;
	int rc;

	*home = (struct fleet_dir){ .dir = absolute(arena, dir ? dir : usual_dir(arena)) };
	path = home->dir ? arena_printf(arena, "%s/fleet.json", home->dir) : NULL;
	home->members = arena_alloc(arena, FLEET_MEMBERS_MAX * sizeof(*home->members));
	if (!path || !home->members)
		return err_sys(err, ENOMEM, "cannot find the fleet's directory");
	rc = fs_read_file(AT_FDCWD, path, HOME_FILE_MAX, &text, err);
	if (rc == -ENOENT)
		return 0;
	return rc < 0 ? rc : parse(home, &text, arena, err);
}

int fleet_dir_save(const struct fleet_dir *home, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT;
	struct json j;

	json_init(&j, &text, true);
	json_object(&j);
	json_kstr(&j, "url", home->url);
	json_kstr(&j, "token", home->token);
	if (home->member)
		json_kstr(&j, "member", home->member);
	json_karray(&j, "processes");
	for (size_t i = 0; i < home->count; i++) {
		json_object(&j);
		json_kstr(&j, "role", home->processes[i].role);
		json_kint(&j, "pid", home->processes[i].pid);
		json_kuint(&j, "start_ticks", home->processes[i].start_ticks);
		json_end(&j);
	}
	json_end(&j);
	json_karray(&j, "members");
	for (size_t i = 0; i < home->member_count; i++) {
		const struct fleet_host *m = &home->members[i];

		json_object(&j);
		json_kstr(&j, "host", m->host);
		json_kstr(&j, "shell", m->shell);
		json_kstr(&j, "sonde", m->sonde);
		if (m->label)
			json_kstr(&j, "label", m->label);
		json_kint(&j, "agents", m->agents);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_addf(&path, "%s/fleet.json", home->dir);
	if (buf_error(&text) < 0 || buf_error(&path) < 0)
		return err_sys(err, ENOMEM, "cannot write '%s/fleet.json'", home->dir);
	return fs_replace_file(AT_FDCWD, path.data, text.data, text.len, err);
}

int fleet_dir_lock(const struct fleet_dir *home, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int fd, rc = fs_mkdir_p(home->dir, 0700, err);

	if (rc < 0)
		return rc;
	buf_addf(&path, "%s/lock", home->dir);
	fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, errno, "cannot open '%s'", path.data);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		rc = err_set(err, EAGAIN, "another 'sonde fleet' is running in '%s'", home->dir);
		close(fd);
		return rc;
	}
	return fd;
}

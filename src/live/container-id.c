#include "live/container-id.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/procfs.h"
#include "launch/cgroup.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ID_BYTES 64
#define PARENTS_MAX 64
#define DOCKER_ROOT "/var/lib/docker"
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

bool live_container_conmon(const char *words, size_t bytes, const char *id, char *name, size_t size)
{
	const char *slash = strrchr(words, '/'), *found = NULL;
	bool is_its = false;

	if (!bytes || strcmp(slash ? slash + 1 : words, "conmon") != 0)
		return false;
	for (const char *word = words, *next; word < words + bytes; word = next) {
		next = word + strlen(word) + 1;
		if (next >= words + bytes)
			break;
		is_its |= strcmp(word, "-c") == 0 && strcmp(next, id) == 0;
		if (strcmp(word, "-n") == 0)
			found = next;
	}
	if (is_its && found)
		snprintf(name, size, "%s", found);
	return is_its && found;
}

/* The text between `before` and the next quote. */
static bool take_quoted(const struct buf *text, const char *before, char *name, size_t size)
{
	const char *at = text->len ? strstr(text->data, before) : NULL, *end;

	at = at ? at + strlen(before) : NULL;
	end = at ? strchr(at, '"') : NULL;
	if (end)
		snprintf(name, size, "%.*s", (int)(end - at), at);
	return end && end > at;
}

bool live_container_docker(const char *root, const char *id, char *name, size_t size)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[512];

	snprintf(path, sizeof(path), "%s/containers/%s/config.v2.json", root, id);
	return fs_read_file(AT_FDCWD, path, TEXT_MAX, &text, NULL) == 0 &&
			take_quoted(&text, "\"Name\":\"/", name, size);
}

bool live_container_env(int root, char *name, size_t size)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	CLEANUP(cleanup_fd) int fd = (int)syscall(SYS_openat2, root, "run/.containerenv", &how, sizeof(how));
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char bytes[4096];
	struct stat st;
	ssize_t n = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? pread(fd, bytes, sizeof(bytes), 0) : -1;

	if (n > 0)
		buf_add(&text, bytes, (size_t)n);
	return n > 0 && take_quoted(&text, "name=\"", name, size);
}

static pid_t parent_of(pid_t pid)
{
	struct proc_stat s;

	return proc_stat_read(&s, pid) ? 0 : (pid_t)s.fields[PROC_PARENT];
}

static bool name_by_conmon(pid_t pid, const char *id, char *name, size_t size)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (int i = 0; i < PARENTS_MAX && pid > 1; i++, pid = parent_of(pid)) {
		buf_reset(&text);
		if (read_of(pid, "cmdline", TEXT_MAX, &text) &&
				live_container_conmon(text.data, text.len, id, name, size))
			return true;
	}
	return false;
}

void live_container_of(pid_t pid, char *id, size_t id_size, char *name, size_t name_size)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[64];

	id[0] = name[0] = '\0';
	if (!read_of(pid, "cgroup", TEXT_MAX, &text))
		return;
	live_container_id(text.data, id, id_size);
	if (!*id || name_by_conmon(pid, id, name, name_size) || live_container_docker(DOCKER_ROOT, id, name, name_size))
		return;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	CLEANUP(cleanup_fd) int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0)
		live_container_env(root, name, name_size);
}

void live_container_cgroup(pid_t pid, struct live_cgroup *group)
{
	CLEANUP(buf_release) struct buf mounts = BUF_INIT, its = BUF_INIT, own = BUF_INIT;
	struct cgroup_map map, ours;

	*group = (struct live_cgroup){ 0 };
	if (!read_of(pid, "cgroup", TEXT_MAX, &its) || !read_of(getpid(), "cgroup", TEXT_MAX, &own) ||
			!read_of(getpid(), "mountinfo", TEXT_MAX, &mounts))
		return;
	cgroup_map_parse(&map, mounts.data, its.data);
	cgroup_map_parse(&ours, mounts.data, own.data);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (strcmp(map.base[i], ours.base[i]) != 0)
			snprintf(group->dir[i], sizeof(group->dir[i]), "%.255s", map.base[i]);
}

/* The layers of a sandbox, prepared before the fork. */
#include "launch/sandbox.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "launch/mounts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PARTS_MAX 4096
#define MOUNTINFO_MAX ((size_t)4 << 20)

/* Layers. */

static bool has_admin(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	return !syscall(SYS_capget, &header, data) && data[CAP_SYS_ADMIN / 32].effective >> (CAP_SYS_ADMIN % 32) & 1;
}

uint64_t sandbox_namespaces(const struct sandbox *s)
{
	uint64_t spaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC;
	return spaces | (s->has_own_network ? (uint64_t)CLONE_NEWNET : 0) |
			(s->is_ordinary ? (uint64_t)CLONE_NEWUSER : 0);
}

static struct sandbox_layer *add_layer(struct sandbox *s)
{
	struct sandbox_layer *layers = reallocarray(s->layers, s->layer_count + 1, sizeof(*layers));
	if (!layers)
		return NULL;
	s->layers = layers;
	layers[s->layer_count] = (struct sandbox_layer){ .tree = -1 };
	return &layers[s->layer_count++];
}

/* overlayfs splits its options at commas and lowerdir at colons. */
static void add_escaped(struct buf *out, const char *path)
{
	for (; *path; path++) {
		if (strchr(",:\\", *path))
			buf_addc(out, '\\');
		buf_addc(out, *path);
	}
}

static int fill_overlay(struct sandbox *s, struct sandbox_layer *l, const char *lower, const char *target)
{
	size_t number = s->layer_count - 1;
	struct buf options = BUF_INIT, upper = BUF_INIT, work = BUF_INIT, at = BUF_INIT;
	buf_addf(&upper, SANDBOX_SCRATCH "/u%zu", number);
	buf_addf(&work, SANDBOX_SCRATCH "/w%zu", number);
	buf_addf(&at, SANDBOX_ROOT "%s", strcmp(target, "/") ? target : "");
	buf_adds(&options, "lowerdir=");
	add_escaped(&options, lower);
	buf_addf(&options, ",upperdir=%s,workdir=%s%s", upper.data, work.data, s->is_ordinary ? ",userxattr" : "");
	int rc = buf_error(&options) || buf_error(&upper) || buf_error(&work) || buf_error(&at) ? -ENOMEM : 0;
	l->lower = strdup(lower);
	l->options = buf_take(&options);
	l->upper = buf_take(&upper);
	l->work = buf_take(&work);
	l->target = buf_take(&at);
	return l->lower ? rc : -ENOMEM;
}

static int sandbox_add_overlay(struct sandbox *s, const char *lower, const char *target)
{
	struct sandbox_layer *l = add_layer(s);
	return l ? fill_overlay(s, l, lower, target) : -ENOMEM;
}

static int sandbox_add_bind(struct sandbox *s, const char *source, const char *target, bool is_read_only)
{
	struct sandbox_layer *l = add_layer(s);
	struct stat st;
	struct buf at = BUF_INIT;
	if (!l)
		return -ENOMEM;
	buf_addf(&at, SANDBOX_ROOT "%s", target);
	l->is_read_only = is_read_only;
	l->source = strdup(source);
	l->target = buf_take(&at);
	if (stat(source, &st))
		return -errno;
	l->is_file = !S_ISDIR(st.st_mode);
	return l->source && l->target ? 0 : -ENOMEM;
}

/* Does not resolve the path: that happens once, when the sandbox is entered. */
static int sandbox_add_mount(struct sandbox *s, const struct job_mount *m)
{
	struct sandbox_layer *l = add_layer(s);
	struct buf at = BUF_INIT;
	if (!l)
		return -ENOMEM;
	buf_addf(&at, SANDBOX_ROOT "%s", m->target);
	l->mount = m;
	l->target = buf_take(&at);
	return l->target ? 0 : -ENOMEM;
}

/* A copy of the link at path */
static int sandbox_add_link(struct sandbox *s, const char *path, const char *target)
{
	struct sandbox_layer *l = add_layer(s);
	char to[PATH_MAX];
	struct buf at = BUF_INIT;
	ssize_t n = readlink(path, to, sizeof(to) - 1);
	if (!l)
		return -ENOMEM;
	if (n < 0)
		return -errno;
	to[n] = '\0';
	buf_addf(&at, SANDBOX_ROOT "%s", target);
	l->link = strdup(to);
	l->target = buf_take(&at);
	return l->link && l->target ? 0 : -ENOMEM;
}

static int sandbox_add_directory(struct sandbox *s, const char *like, const char *target)
{
	struct sandbox_layer *l = add_layer(s);
	struct buf at = BUF_INIT;
	if (!l)
		return -ENOMEM;
	buf_addf(&at, SANDBOX_ROOT "%s", target);
	l->lower = strdup(like);
	l->target = buf_take(&at);
	return l->lower && l->target ? 0 : -ENOMEM;
}

/*
 * A root in parts. In a user namespace the kernel refuses an overlay over a tree with mounts of another namespace,
 * because files hidden below a mount would become visible. So such a directory is created empty, and every entry in
 * it gets a separate layer: an overlay for a directory, recursively if it contains further mounts, and a read-only
 * bind mount for a file.
 */

/* Strictly below: false for dir itself */
static bool sandbox_is_below(const char *path, const char *dir)
{
	size_t n = strcmp(dir, "/") ? strlen(dir) : 0;
	return !strncmp(path, dir, n) && path[n] == '/' && path[n + 1];
}

static bool has_mounts_below(const struct sandbox_mounts *m, const char *dir)
{
	for (size_t i = 0; i < m->count; i++)
		if (sandbox_is_below(m->at[i], dir))
			return true;
	return false;
}

/* The sandbox provides these itself. */
static bool is_own(const char *inner)
{
	return !strcmp(inner, "/proc") || !strcmp(inner, "/sys") || !strcmp(inner, "/dev");
}

static int add_parts_of(struct sandbox *s, const struct sandbox_mounts *m, const char *dir, const char *inner);

static int add_part(struct sandbox *s, const struct sandbox_mounts *m, const char *path, const char *inner)
{
	struct stat st;
	if (is_own(inner) || lstat(path, &st))
		return 0;
	if (s->layer_count >= PARTS_MAX)
		return -E2BIG;
	if (S_ISLNK(st.st_mode))
		return sandbox_add_link(s, path, inner);
	if (!S_ISDIR(st.st_mode))
		return access(path, F_OK) ? 0 : sandbox_add_bind(s, path, inner, true);
	if (!has_mounts_below(m, path))
		return sandbox_add_overlay(s, path, inner);
	int rc = sandbox_add_directory(s, path, inner);
	return rc ? rc : add_parts_of(s, m, path, inner);
}

static int add_parts_of(struct sandbox *s, const struct sandbox_mounts *m, const char *dir, const char *inner)
{
	char path[PATH_MAX], at[PATH_MAX];
	DIR *d = opendir(dir);
	const struct dirent *e;
	int rc = 0;
	if (!d)
		return errno == EACCES ? 0 : -errno; /* the directory is unreadable outside of the sandbox too */
	while (!rc && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		int n = snprintf(path, sizeof(path), "%s/%s", strcmp(dir, "/") ? dir : "", e->d_name);
		int k = snprintf(at, sizeof(at), "%s/%s", inner, e->d_name);
		rc = n >= (int)sizeof(path) || k >= (int)sizeof(at) ? -ENAMETOOLONG : add_part(s, m, path, at);
	}
	closedir(d);
	return rc;
}

/* Is a single overlay over the root refused? Then add a layer for each part. */
static bool sandbox_needs_parts(const struct sandbox *s, const struct sandbox_mounts *m, const char *root)
{
	return s->is_ordinary && has_mounts_below(m, root);
}

/*
 * A write copies the parent directories up, with their owners; other users are not mapped in a user namespace, so
 * that fails. So directories that the program is likely to write to get an additional layer, and we own its top
 * directory.
 */
static int add_places(struct sandbox *s, const struct sandbox_mounts *m)
{
	char cwd[PATH_MAX], place[PATH_MAX];
	const char *const places[] = { getcwd(cwd, sizeof(cwd)), getenv("HOME"), getenv("TMPDIR") };
	int rc = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !rc; i++) {
		struct stat st;
		if (!places[i] || !realpath(places[i], place) || !strcmp(place, "/") || stat(place, &st) ||
				!S_ISDIR(st.st_mode) || has_mounts_below(m, place) ||
				sandbox_is_below(place, "/proc") || sandbox_is_below(place, "/sys") ||
				sandbox_is_below(place, "/dev"))
			continue;
		rc = sandbox_add_overlay(s, place, place);
	}
	return rc;
}

static int sandbox_add_parts(struct sandbox *s, const struct sandbox_mounts *m, const char *root)
{
	s->is_parted = true;
	int rc = add_parts_of(s, m, root, "");
	return rc || strcmp(root, "/") ? rc : add_places(s, m);
}

/* Mounts. */

/* mountinfo escapes blanks etc. as \ooo. */
static void unescape(char *text)
{
	char *out = text;
	for (; *text; text++) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] && text[3]) {
			*out++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
			text += 3;
		} else {
			*out++ = *text;
		}
	}
	*out = '\0';
}

/* Mounts below the root are not part of its file system: each gets a separate layer. */
static int add_submount(struct sandbox *s, const char *root, const char *at)
{
	static const char *const own[] = { "/proc", "/sys", "/dev" };
	struct stat st;
	const char *inner = at + (strcmp(root, "/") ? strlen(root) : 0);
	if (!sandbox_is_below(at, root))
		return 0;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!strcmp(inner, own[i]) || sandbox_is_below(inner, own[i]))
			return 0;
	if (stat(at, &st))
		return 0; /* hidden below another mount, or not accessible */
	return S_ISDIR(st.st_mode) ? sandbox_add_overlay(s, at, inner) : sandbox_add_bind(s, at, inner, true);
}

static int add_submounts(struct sandbox *s, const struct sandbox_mounts *m, const char *root)
{
	int rc = sandbox_add_overlay(s, root, "/");
	for (size_t i = 0; !rc && i < m->count; i++)
		rc = add_submount(s, root, m->at[i]);
	return rc;
}

static void mounts_release(struct sandbox_mounts *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->at[i]);
	free(m->at);
}

static int mounts_add(struct sandbox_mounts *m, const char *at)
{
	if (m->count && !strcmp(m->at[m->count - 1], at))
		return 0;
	char **more = reallocarray(m->at, m->count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	m->at = more;
	m->at[m->count] = strdup(at);
	return m->at[m->count++] ? 0 : -ENOMEM;
}

static int mounts_read(struct sandbox_mounts *m)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX, &text, NULL);
	for (char *line = text.data; !rc && *line;) {
		char *end = strchrnul(line, '\n'), at[PATH_MAX];
		bool has_more = *end;
		*end = '\0';
		if (sscanf(line, "%*s %*s %*s %*s %4095s", at) == 1) {
			unescape(at);
			rc = mounts_add(m, at);
		}
		line = has_more ? end + 1 : end;
	}
	return rc;
}

static int fill(struct sandbox *s, const struct job_isolation *place, struct sonde_err *err)
{
	char root[PATH_MAX];
	if (!realpath(place->root ? place->root : "/", root)) {
		int rc = err_sys(err, errno, "cannot use '%s' as a root", place->root);
		return rc == -ENOENT || rc == -EACCES ? -EINVAL : rc;
	}
	s->is_ordinary = !has_admin();
	s->has_own_network = place->has_own_network;
	snprintf(s->uid_map, sizeof(s->uid_map), "%u %u 1", geteuid(), geteuid());
	snprintf(s->gid_map, sizeof(s->gid_map), "%u %u 1", getegid(), getegid());
	CLEANUP(mounts_release) struct sandbox_mounts mounts = { 0 };
	int rc = mounts_read(&mounts);
	if (!rc && sandbox_needs_parts(s, &mounts, root))
		rc = sandbox_add_parts(s, &mounts, root);
	else if (!rc)
		rc = add_submounts(s, &mounts, root);
	if (rc)
		return err_sys(err, -rc, "cannot prepare a sandbox");
	for (size_t i = 0; i < place->mount_count; i++) {
		const struct job_mount *m = &place->mounts[i];
		if (m->target[0] != '/' || strstr(m->target, "/../"))
			return err_set(err, EINVAL, "cannot mount on '%s': the path must be absolute", m->target);
		CLEANUP(cleanup_fd) int fd = mount_open(m); /* report errors early; it is opened again at the start */
		if (fd < 0)
			return mount_error(m, -fd, err);
		if (sandbox_add_mount(s, m))
			return err_sys(err, ENOMEM, "cannot mount '%s'", m->source);
	}
	return 0;
}

int sandbox_new(struct sandbox **out, const struct job_isolation *place, struct sonde_err *err)
{
	struct sandbox *s = calloc(1, sizeof(*s));
	if (!s)
		return err_sys(err, ENOMEM, "cannot prepare a sandbox");
	int rc = fill(s, place, err);
	if (rc)
		sandbox_free(s);
	else
		*out = s;
	return rc;
}

void sandbox_free(struct sandbox *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->layer_count; i++) {
		free(s->layers[i].source);
		free(s->layers[i].target);
		free(s->layers[i].link);
		free(s->layers[i].options);
		free(s->layers[i].lower);
		free(s->layers[i].upper);
		free(s->layers[i].work);
	}
	free(s->layers);
	free(s);
}

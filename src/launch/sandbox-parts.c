/*
 * A root in parts. In a user namespace the kernel refuses an overlay over a tree with mounts of another namespace,
 * because files hidden below a mount would become visible. So such a directory is created empty, and every entry in
 * it gets a separate layer: an overlay for a directory, recursively if it contains further mounts, and a read-only
 * bind mount for a file.
 */
#include "launch/sandbox-private.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTS_MAX 4096

bool sandbox_is_below(const char *path, const char *dir)
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

bool sandbox_needs_parts(const struct sandbox *s, const struct sandbox_mounts *m, const char *root)
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

int sandbox_add_parts(struct sandbox *s, const struct sandbox_mounts *m, const char *root)
{
	s->is_parted = true;
	int rc = add_parts_of(s, m, root, "");
	return rc || strcmp(root, "/") ? rc : add_places(s, m);
}

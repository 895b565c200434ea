#include "filter.h"

#include "bind.h"
#include "tracer/raw-syscall.h"

#include <string.h>

#define PREFIXES_MAX 256

static struct {
	bool is_all, is_strict;
	unsigned count;
	const char *prefix[PREFIXES_MAX];
	size_t bytes[PREFIXES_MAX];
	char text[3 * SETTING_TEXT_BYTES];
} filter;

static const char *const never_starts[] = { "/proc/", "/sys/", "/dev/pts/", "/dev/tty", "/dev/ptmx", "/memfd:" };
static const char *const never_names[] = { "pipe:", "socket:", "anon_inode:" };
static const char *const never_ends[] = { ".pfw", ".pfw.gz", ".py" };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A relative prefix is relative to the program's initial working directory. */
static size_t add_prefix(const char *from, size_t n, char *at, size_t room)
{
	size_t have = 0;
	if (from[0] != '/') {
		long cwd = sys2(SYS_getcwd, at, room);
		have = cwd > 0 ? (size_t)cwd - 1 : 0;
		if (have + 1 < room)
			at[have++] = '/';
		if (n >= 2 && from[0] == '.' && from[1] == '/')
			from += 2, n -= 2;
	}
	if (have + n + 1 > room || filter.count == PREFIXES_MAX)
		return 0;
	memcpy(at + have, from, n);
	at[have + n] = '\0';
	filter.prefix[filter.count] = at;
	filter.bytes[filter.count++] = have + n;
	return have + n + 1;
}

void filter_set(const char *data_dirs, const struct settings *s)
{
	const char *list = data_dirs ? data_dirs : s->data_dirs;
	size_t used = 0;
	filter.count = 0;
	filter.is_strict = s->is_strict;
	filter.is_all = !*list && !s->is_strict;
	while (*list) {
		size_t n = strcspn(list, ":");
		if (n == 3 && !memcmp(list, "all", 3))
			filter.is_all = true;
		else if (n)
			used += add_prefix(list, n, filter.text + used, sizeof(filter.text) - used);
		list += n + (list[n] == ':');
	}
}

static bool starts(const char *path, const char *with)
{
	return !strncmp(path, with, strlen(with));
}

static bool ends(const char *path, size_t n, const char *with)
{
	size_t k = strlen(with);
	return n >= k && !memcmp(path + n - k, with, k);
}

/* True if the path has a component "." or "..". */
static bool is_crooked(const char *path)
{
	for (const char *p = path; (p = strstr(p, "/.")); p++)
		if (p[2] == '/' || !p[2] || (p[2] == '.' && (p[3] == '/' || !p[3])))
			return true;
	return false;
}

int filter_is_wanted(const char *path)
{
	size_t n = strlen(path);
	if (bind_is_pending)
		bind_calls();
	for (size_t i = 0; i < COUNT(never_ends); i++)
		if (ends(path, n, never_ends[i]))
			return 0;
	if (path[0] != '/') {
		for (size_t i = 0; i < COUNT(never_names); i++)
			if (starts(path, never_names[i]))
				return 0;
		return filter.is_all ? 1 : filter.is_strict ? 0 : -1;
	}
	for (size_t i = 0; i < COUNT(never_starts); i++)
		if (starts(path, never_starts[i]))
			return 0;
	if (filter.is_all)
		return 1;
	if (is_crooked(path))
		return -1;
	for (unsigned i = 0; i < filter.count; i++)
		if (!strncmp(path, filter.prefix[i], filter.bytes[i]))
			return 1;
	return 0;
}

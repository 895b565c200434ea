/* A tree is scanned a hundred times a second, so it reads the kernel's lists of children instead of all of /proc. */
#include "launch/busy-thread.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TREE_MAX = 32, CPU_FIELD = 39 /* of stat in proc(5); the state is field 3 */ };

struct walk {
	pid_t processes[TREE_MAX];
	size_t count;
	struct runner found;
	size_t running;
};

static bool read_text(int at, const char *name, char *text, size_t size)
{
	CLEANUP(cleanup_fd) int fd = openat(at, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	text[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/* The CPU that a thread runs on or is runnable on; -1 if it sleeps or has exited. */
static int running_on(int at, const char *name)
{
	char text[512];
	const char *c = read_text(at, name, text, sizeof(text)) ? strrchr(text, ')') : NULL;

	if (!c || c[1] != ' ' || c[2] != 'R')
		return -1;
	c += 2;
	for (int field = 3; field < CPU_FIELD && c; field++) {
		c = strchr(c, ' ');
		c = c ? c + 1 : NULL;
	}
	return c ? (int)strtol(c, NULL, 10) : -1;
}

static void add_children(struct walk *w, int at, const char *name)
{
	char text[512], *at_text = text, *end;

	if (!read_text(at, name, text, sizeof(text)))
		return;
	for (long pid; (pid = strtol(at_text, &end, 10)) > 0 && w->count < TREE_MAX; at_text = end)
		w->processes[w->count++] = (pid_t)pid;
}

static void look_at_thread(struct walk *w, int at, pid_t id)
{
	char name[32];
	int cpu;

	snprintf(name, sizeof(name), "%d/stat", (int)id);
	cpu = running_on(at, name);
	if (cpu >= 0) {
		w->found = (struct runner){ .task = id, .cpu = cpu };
		w->running++;
	}
	snprintf(name, sizeof(name), "%d/children", (int)id);
	add_children(w, at, name);
}

static void look_at_process(struct walk *w, pid_t pid)
{
	char path[32];
	const struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && w->running < 2 && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			look_at_thread(w, dirfd(dir), (pid_t)strtol(entry->d_name, NULL, 10));
	if (dir)
		closedir(dir);
}

bool runner_find(struct runner *r, pid_t root)
{
	struct walk w = { .processes = { root }, .count = 1 };

	for (size_t i = 0; i < w.count && w.running < 2; i++)
		look_at_process(&w, w.processes[i]);
	*r = w.found;
	return w.running == 1 && w.count < TREE_MAX;
}

bool runner_is_there(const struct runner *r)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)r->task);
	return running_on(AT_FDCWD, path) == r->cpu;
}

/* A tree is scanned a hundred times a second, so it reads the kernel's lists of children instead of all of /proc. */
#include "launch/busy-thread.h"

#include "base/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TREE_MAX = 32 };

struct walk {
	pid_t processes[TREE_MAX];
	size_t count;
	struct runner found;
	size_t running;
};

/* The CPU that a thread runs on or is runnable on; -1 if it sleeps or has exited. */
static int running_on(int at, const char *name)
{
	char text[PROC_STAT_BYTES];
	struct proc_stat s;

	return proc_read(at, name, text, sizeof(text)) > 0 && proc_stat_parse(&s, text) && s.state == 'R'
			? (int)s.fields[PROC_CPU]
			: -1;
}

static void add_children(struct walk *w, int at, const char *name)
{
	char text[512], *at_text = text, *end;

	if (proc_read(at, name, text, sizeof(text)) <= 0)
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

#include "record/writers.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/maps.h"
#include "record/ringdir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define JSON_BYTES_MAX ((size_t)16 << 20)
#define DYING_TRIES 20 /* of DYING_NS: who was killed with the recorder may take a moment */
#define DYING_NS 50000000

pid_t writers_find(const char *ring)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	struct stat control;
	pid_t found = 0;

	buf_addf(&path, "%s/control", ring);
	if (buf_error(&path) || stat(path.data, &control))
		return 0;
	DIR *processes = opendir("/proc");
	for (struct dirent *e; processes && !found && (e = readdir(processes));) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10); /* 0: no process's */

		if (pid > 0 && maps_have(pid, &control, "control") == 1)
			found = pid;
	}
	if (processes)
		closedir(processes);
	return found;
}

/* "ring": what run.json says while its recorder lives. A quote within a string of it has a backslash before it. */
static bool ring_of(const char *bundle, struct buf *ring)
{
	static const char key[] = "\"ring\": \"";
	CLEANUP(buf_release) struct buf path = BUF_INIT, text = BUF_INIT;

	buf_addf(&path, "%s/run.json", bundle);
	if (buf_error(&path) || fs_read_file(AT_FDCWD, path.data, JSON_BYTES_MAX, &text, NULL))
		return false;
	const char *at = strstr(text.data, key);
	size_t bytes = at ? strcspn(at + sizeof(key) - 1, "\"\\") : 0;
	if (!bytes || at[sizeof(key) - 1 + bytes] != '"')
		return false;
	buf_add(ring, at + sizeof(key) - 1, bytes);
	return !buf_error(ring);
}

/* Anybody may have written that run.json: it must be a ring of ours, by name, owner and content. */
static bool is_ring_of_ours(const char *path)
{
	struct ring_dir ring = RING_DIR_INIT;
	struct stat st;
	const char *name = strrchr(path, '/');
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "/sonde-%u.", (unsigned)getuid());
	bool is_ours = *path == '/' && name && !strncmp(name, prefix, strlen(prefix)) && !lstat(path, &st) &&
			S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !ring_dir_open(&ring, path, NULL);
	ring_dir_release(&ring);
	return is_ours;
}

void writers_remove_left(const char *bundle)
{
	CLEANUP(buf_release) struct buf ring = BUF_INIT;
	const struct timespec pause = { .tv_nsec = DYING_NS };

	if (!ring_of(bundle, &ring) || !is_ring_of_ours(ring.data))
		return;
	for (int i = 0; writers_find(ring.data); i++) {
		if (i == DYING_TRIES)
			return;
		nanosleep(&pause, NULL);
	}
	fs_remove_tree(AT_FDCWD, ring.data);
}

#include "record/writers.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/procfs.h"
#include "record/ringdir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DYING_TRIES 20 /* of DYING_NS: processes killed with the recorder may take a moment to exit */
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
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10); /* 0: not a process */

		if (pid > 0 && pid != getpid() && maps_have(pid, &control, "control") == 1)
			found = pid;
	}
	if (processes)
		closedir(processes);
	return found;
}

/* The text of a key, as written by run-json.c. A quote inside a text of run.json is escaped by a backslash. */
static bool find_text(const struct buf *json, const char *key, struct buf *out)
{
	const char *at = strstr(json->data, key);
	size_t bytes = at ? strcspn(at + strlen(key), "\"\\") : 0;

	if (!bytes || at[strlen(key) + bytes] != '"')
		return false;
	buf_add(out, at + strlen(key), bytes);
	return !buf_error(out);
}

static bool is_left(const char *ring)
{
	const struct timespec pause = { .tv_nsec = DYING_NS };

	for (int i = 0; i < DYING_TRIES; i++) {
		if (!writers_find(ring))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

void writers_remove_left(const char *bundle)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT, id = BUF_INIT;
	CLEANUP(cleanup_fd) int dir = open(bundle, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ring_dir ring = RING_DIR_INIT;

	if (dir >= 0 && !store_run_read_json(dir, &text, NULL) && find_text(&text, "\"ring\": \"", &path) &&
			find_text(&text, "\"ring_id\": \"", &id) &&
			!ring_dir_claim(&ring, dir, path.data, id.data, NULL) && is_left(path.data))
		ring_dir_remove(&ring);
	ring_dir_release(&ring);
}

int writers_create_run(struct store_run *run, const char *dir, const char *name, bool is_forced, struct sonde_err *err)
{
	int rc = is_forced && dir ? store_run_is_replaceable(dir, err) : 0;

	if (rc < 0)
		return rc;
	if (rc == 0)
		return store_run_create(run, dir, name, err);
	writers_remove_left(dir);
	return store_run_replace(run, dir, err);
}

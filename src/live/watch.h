/*
 * watch: the rings of this user's running programs, found once and kept open.
 *
 * A ring directory is scanned again when its mtime has changed, and so are the directories that contain rings. The
 * directory, a board and /proc/PID/stat stay open, so that polling a program costs a stat and three reads without
 * path lookups. A process that has exited, or has lost its pid to another, is dropped.
 */
#ifndef SONDE_LIVE_WATCH_H
#define SONDE_LIVE_WATCH_H

#include "base/err.h"
#include "live/board-reader.h"
#include "live/proc-metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#define LIVE_NAME_BYTES 64
#define LIVE_APP_FILE "app" /* in a ring directory: the application's name */
#define LIVE_PLACES_MAX 8
#define LIVE_CONTAINER_BYTES 80

struct live_entry { /* a process with a board, or an announced one */
	char file[24];
	int board_fd, stat_fd; /* board_fd -1: no board */
	pid_t pid;
	int64_t start_mono_ns;
	char app[LIVE_NAME_BYTES];
	char container[LIVE_NAME_BYTES], container_id[LIVE_CONTAINER_BYTES]; /* "" if unknown or none */
	struct live_cgroup cgroup;
	struct live_group_files group_files; /* of an application's first process, once they were read */
	/* private */
	struct live_process process; /* as it was read */
	size_t metric_count;         /* at that time, so that one read suffices */
	int64_t read_ns;
	bool is_seen;
};

struct live_ring {
	char path[300];
	struct live_entry *entries;
	size_t entry_count;
	struct live_clock clock;
	/* private */
	int fd; /* of the directory; -1: it could not be opened */
	struct timespec time;
	size_t entry_cap;
	bool is_seen;
};

struct live_watch {
	struct live_ring *rings;
	size_t ring_count;
	/* private */
	const char *const *places; /* NULL: /dev/shm */
	struct timespec place_times[LIVE_PLACES_MAX];
	size_t ring_cap;
	int64_t refreshed_ns;
};

/* Writes to a ring directory: this process is visible even without a board. */
int live_watch_announce(int dirfd, pid_t pid, struct sonde_err *err);

void live_watch_init(struct live_watch *w, const char *const *places);
void live_watch_release(struct live_watch *w);
/*
 * Refreshes the list if it is older than age_ns. Unreadable rings and processes are skipped; fails only if out of
 * memory.
 */
int live_watch_refresh(struct live_watch *w, int64_t age_ns, struct sonde_err *err);
/* Reads the board of an entry and its process values, which may be age_ns old; -ESRCH: it has exited. */
int live_watch_read(struct live_entry *e, int64_t age_ns, bool has_histograms, struct live_board *b,
		const struct live_process **p);

#endif

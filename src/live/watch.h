/*
 * watch: the rings of this user's running programs, found once and kept open.
 *
 * A ring directory is looked into again when its time has changed, the places of rings too. The
 * directory, a board and /proc/PID/stat stay open from then on, so that a look at a program costs
 * a stat and three reads, none of which looks for a name. A process that has ended, or whose number
 * is another's now, is left out and let go.
 */
#ifndef SONDE_LIVE_WATCH_H
#define SONDE_LIVE_WATCH_H

#include "base/err.h"
#include "live/board-reader.h"
#include "live/cgroup-files.h"
#include "live/container-id.h"
#include "live/process-metrics.h"
#include "live/rate.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#define LIVE_NAME_BYTES 64
#define LIVE_APP_FILE "app" /* in a ring directory: the application's name */
#define LIVE_PLACES_MAX 8
#define LIVE_CONTAINER_BYTES 80

struct live_entry { /* a process with a board, or one that was announced */
	char file[24];
	int board_fd, stat_fd; /* board_fd -1: it has no board */
	pid_t pid;
	int64_t start_mono_ns;
	char app[LIVE_NAME_BYTES];
	char container[LIVE_NAME_BYTES], container_id[LIVE_CONTAINER_BYTES]; /* "": in none that is known */
	struct live_cgroup cgroup;
	struct live_group_files group_files; /* of an application's first, where somebody has looked */
	/* private */
	struct live_process process; /* as it was read */
	size_t metric_count;         /* then, so that one read does */
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

/* Into a ring directory: this process is to be seen even if it never has a board. */
int live_watch_announce(int dirfd, pid_t pid, struct sonde_err *err);

void live_watch_init(struct live_watch *w, const char *const *places);
void live_watch_release(struct live_watch *w);
/* What is there now, or was at most age_ns ago. What cannot be read is left out; only want of memory fails. */
int live_watch_refresh(struct live_watch *w, int64_t age_ns, struct sonde_err *err);
/* The board of an entry, and its numbers, which may be age_ns old; -ESRCH: it has ended. */
int live_watch_read(struct live_entry *e, int64_t age_ns, bool has_histograms, struct live_board *b,
		const struct live_process **p);

#endif

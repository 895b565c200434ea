/* The ring exists for its board only: no process drains it, and only annotations are written to it. */
#include "cli/live-run.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "launch/launch.h"
#include "live/apps.h"
#include "record/preload.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define RUN_BYTES_MAX (256ull << 20)
#define PROCESS_BYTES_MAX (1ull << 20)

static int write_name(const struct ring_dir *ring, const char *program, const char *name, struct sonde_err *err)
{
	const char *slash = strrchr(program, '/');
	char text[LIVE_NAME_BYTES];

	snprintf(text, sizeof(text), "%s", name ? name : slash ? slash + 1 : program);
	return fs_replace_file(ring->fd, LIVE_APP_FILE, text, strlen(text), err);
}

static int wait_for(struct launch *l, int *status, struct sonde_err *err)
{
	struct pollfd fds[] = { { .fd = l->pidfd, .events = POLLIN }, { .fd = l->signalfd, .events = POLLIN } };

	while (!(fds[0].revents & POLLIN)) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return err_sys(err, errno, "cannot wait for the program");
		if (fds[1].revents & POLLIN)
			launch_forward_signals(l);
	}
	return launch_wait(l, status, err);
}

static int run_in(const struct ring_dir *ring, char *const *argv, bool is_grouped, int *status, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf library = BUF_INIT, preload = BUF_INIT, place = BUF_INIT;
	const char *env[3] = { NULL };
	const struct job_isolation group = { .kind = JOB_CGROUP, .limits = { .is_watched = true } };
	struct launch_spec spec = { .argv = argv, .env = env, .place = is_grouped ? &group : NULL };
	struct launch launch = { .pidfd = -1, .signalfd = -1 };
	int rc = preload_library(ring, &library, err);

	if (rc < 0)
		return rc;
	preload_value(&preload, library.data);
	buf_addf(&place, "SONDE_RING=%s", ring->path.data);
	env[0] = preload.data;
	env[1] = place.data;
	rc = launch_start(&launch, &spec, err);
	if (rc == 0) {
		/* makes a program without annotations visible; failure is not an error */
		live_watch_announce(ring->fd, launch.pid, NULL);
		rc = wait_for(&launch, status, err);
	}
	launch_release(&launch);
	return rc;
}

int live_run(char *const *argv, const char *name, bool is_grouped, int *status, struct sonde_err *err)
{
	struct ring_options options = { .categories = SONDE_CAT_SPAN,
		.run_bytes_max = RUN_BYTES_MAX,
		.process_bytes_max = PROCESS_BYTES_MAX };
	struct ring_dir ring = RING_DIR_INIT;
	int rc = launch_check(argv[0], err);

	if (rc < 0)
		return rc;
	rc = ring_dir_create(&ring, "/tmp", &options, err);
	if (rc == 0) {
		rc = write_name(&ring, argv[0], name, err);
		if (rc == 0)
			rc = run_in(&ring, argv, is_grouped, status, err);
		ring_dir_remove(&ring);
	}
	ring_dir_release(&ring);
	return rc;
}

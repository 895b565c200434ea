#include "launch/start-barrier.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int fail(struct start_barrier *g)
{
	int error = errno;
	start_barrier_release(g);
	return -error;
}

/* Socket paths must be short, and that of the directory may be long: bind by /proc/self/fd. */
static int bind_in(const struct start_barrier *g)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	CLEANUP(cleanup_fd) int dir = open(g->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/gate", dir);
	return bind(g->listening, (const struct sockaddr *)&at, sizeof(at));
}

/* The container's user may be any, so the socket is open to all; its directory is not. */
int start_barrier_init(struct start_barrier *g)
{
	*g = (struct start_barrier)START_BARRIER_INIT;
	int rc = fs_temp_dir(g->dir, "sonde-gate", NULL);
	if (rc)
		return rc;
	g->is_made = true;
	snprintf(g->path, sizeof(g->path), "%s/gate", g->dir);
	g->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (g->listening < 0 || bind_in(g) || listen(g->listening, 1) || chmod(g->path, 0666))
		return fail(g);
	return 0;
}

pid_t start_barrier_poll(struct start_barrier *g)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);
	if (g->waiting < 0)
		g->waiting = accept4(g->listening, NULL, NULL, SOCK_CLOEXEC);
	if (g->waiting < 0)
		return -1;
	return getsockopt(g->waiting, SOL_SOCKET, SO_PEERCRED, &who, &bytes) ? 0 : who.pid;
}

void start_barrier_open(struct start_barrier *g)
{
	if (g->waiting >= 0)
		close(g->waiting);
	g->waiting = -1;
}

void start_barrier_release(struct start_barrier *g)
{
	if (!g->is_made)
		return;
	start_barrier_open(g);
	if (g->listening >= 0)
		close(g->listening); /* a later connect is refused, and that process does not wait */
	unlink(g->path);
	rmdir(g->dir);
	*g = (struct start_barrier)START_BARRIER_INIT;
}

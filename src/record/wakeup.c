/*
 * Wakes the recorder; see wakeup.h.
 *
 * The ring directory is watched by F_NOTIFY and not by inotify: closing an inotify descriptor takes tens of
 * milliseconds (an RCU grace period), at the end of every recording. The signal is sent to this thread, which blocks
 * it.
 */
#include "record/wakeup.h"

#include "base/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define PASS_MS_MIN 1  /* pass interval at a high event rate */
#define PASS_MS_MAX 20 /* and at a low one */
#define IDLE_MS 100    /* and without events: a process that needs more room wakes us */
#define PROBES_MS 100  /* poll interval of probes without a ring */
#define BUSY_EVENTS 256
#define FLOOD_EVENTS 2048 /* a full chunk or more: pass again at once, so that the ring need not grow */
#define GROWTH_SIGNAL SIGRTMAX

static void ignore(int number)
{
	(void)number;
}

/* Installed before anything can send it: then the signal is harmless in every thread. */
static int take_signal(sigset_t *old)
{
	struct sigaction harmless = { .sa_handler = ignore, .sa_flags = SA_RESTART };
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, GROWTH_SIGNAL);
	sigaction(GROWTH_SIGNAL, &harmless, NULL); /* exec resets it to the default */
	pthread_sigmask(SIG_BLOCK, &set, old);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool ask_for_news(int dir)
{
	struct f_owner_ex us = { .type = F_OWNER_TID, .pid = gettid() };
	return !fcntl(dir, F_SETSIG, GROWTH_SIGNAL) && !fcntl(dir, F_NOTIFY, DN_CREATE | DN_MULTISHOT) &&
			!fcntl(dir, F_SETOWN_EX, &us);
}

static void watch_growth(struct waker *w, const char *ring)
{
	w->fds[WAKE_GROWTH].fd = -1;
	w->ring = ring ? open(ring, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (w->ring < 0)
		return;
	w->fds[WAKE_GROWTH].fd = take_signal(&w->old_mask);
	if (ask_for_news(w->ring)) /* if unsupported, only the timeout wakes us */
		w->idle_ms = IDLE_MS;
}

static void forget_growth(const struct waker *w)
{
	struct signalfd_siginfo info[16];
	while (read(w->fds[WAKE_GROWTH].fd, info, sizeof(info)) > 0)
		;
}

void waker_init(struct waker *w, struct probe_set *probes, const char *ring, int pidfd, int signalfd)
{
	int fds[WAKER_FDS_MAX];
	size_t n = probe_set_fds(probes, fds, WAKER_FDS_MAX - WAKE_PROBES);
	w->probes = probes;
	w->wait_ms = ring ? PASS_MS_MIN : 0;
	w->is_flooded = false;
	w->idle_ms = PASS_MS_MAX;
	w->fds[WAKE_END].fd = pidfd;
	w->fds[WAKE_SIGNAL].fd = signalfd;
	watch_growth(w, ring);
	for (size_t i = 0; i < n; i++)
		w->fds[WAKE_PROBES + i].fd = fds[i];
	w->count = WAKE_PROBES + n;
	for (size_t i = 0; i < w->count; i++)
		w->fds[i].events = POLLIN;
}

void wakeup_interval(struct waker *w, uint64_t events)
{
	int max = events ? PASS_MS_MAX : w->idle_ms;
	w->is_flooded = events > FLOOD_EVENTS;
	if (events > BUSY_EVENTS && w->wait_ms)
		w->wait_ms = PASS_MS_MIN;
	else
		w->wait_ms = 2 * w->wait_ms > max ? max : 2 * w->wait_ms;
}

static int64_t longest_ns(const struct waker *w)
{
	if (w->wait_ms)
		return w->is_flooded ? 0 : w->wait_ms * 1000000ll;
	return probe_set_is_idle(w->probes) ? INT64_MAX : PROBES_MS * 1000000ll;
}

bool waker_wait(struct waker *w, int64_t until_ns)
{
	int64_t now = clock_mono_ns(), due = probe_set_due_ns(w->probes), wait_ns = longest_ns(w);
	due = due < until_ns ? due : until_ns;
	if (due != INT64_MAX && due - now < wait_ns)
		wait_ns = due > now ? due - now : 0;
	struct timespec t = { .tv_sec = wait_ns / 1000000000, .tv_nsec = wait_ns % 1000000000 };
	int n = ppoll(w->fds, w->count, wait_ns == INT64_MAX ? NULL : &t, NULL);
	bool is_ready = false;
	for (size_t i = 0; i < w->count; i++) {
		if (n <= 0)
			w->fds[i].revents = 0;
		if (i < WAKE_PROBES)
			continue;
		is_ready |= (w->fds[i].revents & POLLIN) != 0;
		if (w->fds[i].revents & (POLLHUP | POLLERR))
			w->fds[i].fd = -1; /* its thread has exited: it would stay readable */
	}
	if (w->fds[WAKE_GROWTH].revents)
		forget_growth(w);
	return is_ready;
}

void waker_release(struct waker *w)
{
	if (w->ring < 0)
		return;
	close(w->ring);
	if (w->fds[WAKE_GROWTH].fd >= 0) {
		forget_growth(w);
		close(w->fds[WAKE_GROWTH].fd);
	}
	pthread_sigmask(SIG_SETMASK, &w->old_mask, NULL);
}

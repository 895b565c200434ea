#include "live/control/watchdog.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "launch/spawn-command.h"
#include "live/control/action-log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum word_kind { WORD_BEAT, WORD_REMEMBER, WORD_FORGET };

struct word {
	enum word_kind kind;
	struct change_place place;
	char before[CHANGE_TEXT_BYTES];
};

struct memory {
	struct word all[WATCHDOG_CHANGES_MAX];
	size_t count;
	struct journal *journal;
};

static size_t find(const struct memory *m, const struct change_place *place)
{
	size_t i = 0;

	while (i < m->count && !change_is_same(&m->all[i].place, place))
		i++;
	return i;
}

static void take(struct memory *m, const struct word *w)
{
	size_t i = w->kind == WORD_BEAT ? 0 : find(m, &w->place);

	if (w->kind == WORD_REMEMBER && i == m->count && m->count < WATCHDOG_CHANGES_MAX)
		m->all[m->count++] = *w;
	if (w->kind == WORD_FORGET && i < m->count)
		memmove(&m->all[i], &m->all[i + 1], (--m->count - i) * sizeof(m->all[0]));
}

static void put_back(struct memory *m, const char *why)
{
	while (m->count) {
		struct word *w = &m->all[--m->count];
		char now[CHANGE_TEXT_BYTES] = "";
		struct action_log_line line = { .action = "revert",
			.why = why,
			.place = w->place.path,
			.before = now,
			.after = w->before };
		int rc;

		change_read(&w->place, now);
		rc = change_write(&w->place, w->before);
		/* If the application has exited, the changed value is gone with it. */
		line.result = rc == 0 ? "reverted" : rc == -ENOENT ? "gone" : "failed";
		line.message = rc < 0 ? strerror(-rc) : NULL;
		action_log_write(m->journal, &line);
	}
}

static void close_others(int sock, int journal_fd)
{
	long most = sysconf(_SC_OPEN_MAX);

	for (int fd = 0; fd < (most > 0 && most < 65536 ? most : 65536); fd++)
		if (fd != sock && fd != journal_fd)
			close(fd);
}

static void watch_over(int sock, int64_t lease_ns, struct journal *journal) __attribute__((noreturn));
static void watch_over(int sock, int64_t lease_ns, struct journal *journal)
{
	static struct memory m;
	struct pollfd p = { .fd = sock, .events = POLLIN };
	struct word w;

	m.journal = journal;
	for (;;) {
		int n = poll(&p, 1, (int)(lease_ns / 1000000));

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0) {
			put_back(&m, "the controller did not renew its lease");
			continue;
		}
		if (recv(sock, &w, sizeof(w), 0) != (ssize_t)sizeof(w))
			break;
		take(&m, &w);
	}
	put_back(&m, "the controller exited");
	_exit(0);
}

int watchdog_start(struct watchdog *w, int64_t lease_ns, struct journal *journal, struct sonde_err *err)
{
	int ends[2];
	sigset_t all;

	*w = (struct watchdog){ .sock = -1, .lease_ns = lease_ns };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err_sys(err, errno, "cannot start the watchdog");
	w->pid = fork();
	if (w->pid == 0) {
		prctl(PR_SET_NAME, "sonde-watchdog");
		setsid();
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL); /* it ends only with us, or by SIGKILL */
		close_others(ends[1], journal->fd);
		watch_over(ends[1], lease_ns, journal);
	}
	close(ends[1]);
	w->sock = ends[0];
	if (w->pid > 0)
		return 0;
	close(ends[0]);
	w->sock = -1;
	return err_sys(err, errno, "cannot start the watchdog");
}

static int say(struct watchdog *w, const struct word *word)
{
	if (w->sock < 0)
		return -EPIPE;
	return send(w->sock, word, sizeof(*word), MSG_NOSIGNAL) == (ssize_t)sizeof(*word) ? 0 : -EPIPE;
}

int watchdog_remember(struct watchdog *w, const struct change_place *place, const char *before)
{
	struct word word = { .kind = WORD_REMEMBER, .place = *place };

	snprintf(word.before, sizeof(word.before), "%s", before);
	return say(w, &word);
}

int watchdog_forget(struct watchdog *w, const struct change_place *place)
{
	struct word word = { .kind = WORD_FORGET, .place = *place };

	return say(w, &word);
}

int watchdog_beat(struct watchdog *w)
{
	struct word word = { .kind = WORD_BEAT };

	return say(w, &word);
}

void watchdog_end(struct watchdog *w)
{
	if (w->sock >= 0)
		close(w->sock);
	w->sock = -1;
	if (w->pid > 0)
		launch_reap(w->pid);
	w->pid = 0;
}

/*
 * Reading and writing is also used by the watchdog, which must not allocate: plain reads and writes only. Boards are
 * untrusted: copied, bounds-checked, validated.
 */
#include "live/control/change.h"

#include "base/cleanup.h"
#include "launch/spawn-command.h"
#include "live/board-reader.h"
#include "live/control/action-runner.h"
#include "sonde/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

bool change_is_same(const struct change_place *a, const struct change_place *b)
{
	return a->kind == b->kind && a->knob == b->knob && strcmp(a->path, b->path) == 0;
}

static off_t knob_at(const struct change_place *p, size_t field)
{
	return (off_t)(SONDE_SEGMENT_HEAD_BYTES + offsetof(struct sonde_board, knobs) +
			p->knob * sizeof(struct sonde_knob) + field);
}

/*
 * The application owns the directory of its board and may have replaced the file since the knob was found: for a
 * knob, only a board is read or written.
 */
static int open_place(const struct change_place *p, int flags)
{
	int fd = open(p->path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct sonde_segment head;

	if (fd < 0)
		return -errno;
	if (p->kind != CHANGE_KNOB || (p->knob < SONDE_KNOBS_MAX && live_board_head(fd, &head) == 0))
		return fd;
	close(fd);
	return -EBADMSG;
}

int change_read(const struct change_place *p, char text[CHANGE_TEXT_BYTES])
{
	CLEANUP(cleanup_fd) int fd = open_place(p, O_RDONLY);
	uint64_t bits = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (p->kind == CHANGE_KNOB) {
		n = pread(fd, &bits, sizeof(bits), knob_at(p, offsetof(struct sonde_knob, value)));
		snprintf(text, CHANGE_TEXT_BYTES, "%016" PRIx64, bits);
		return n == (ssize_t)sizeof(bits) ? 0 : -EBADMSG;
	}
	n = read(fd, text, CHANGE_TEXT_BYTES - 1);
	if (n < 0)
		return -errno;
	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	return 0;
}

/* The value first, then the generation, which the program polls. */
static int write_knob(int fd, const struct change_place *p, const char *text)
{
	const off_t generation_at = knob_at(p, offsetof(struct sonde_knob, generation));
	uint64_t bits;
	uint32_t generation;

	if (sscanf(text, "%" SCNx64, &bits) != 1)
		return -EINVAL;
	if (pread(fd, &generation, sizeof(generation), generation_at) != (ssize_t)sizeof(generation) ||
			pwrite(fd, &bits, sizeof(bits), knob_at(p, offsetof(struct sonde_knob, wanted))) !=
					(ssize_t)sizeof(bits))
		return -EBADMSG;
	generation++;
	return pwrite(fd, &generation, sizeof(generation), generation_at) == (ssize_t)sizeof(generation) ? 0 : -EBADMSG;
}

int change_write(const struct change_place *p, const char *text)
{
	CLEANUP(cleanup_fd) int fd = open_place(p, p->kind == CHANGE_KNOB ? O_RDWR : O_WRONLY);

	if (fd < 0)
		return fd;
	if (p->kind == CHANGE_KNOB)
		return write_knob(fd, p, text);
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

void knob_find(struct knob_search *s, const char *ring, const char *file)
{
	struct sonde_segment head;
	struct knob_found *to = &s->found[s->count];
	uint32_t count;
	char path[CHANGE_PATH_BYTES];

	snprintf(path, sizeof(path), "%.300s/%.60s", ring, file);
	CLEANUP(cleanup_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || s->count == KNOB_FOUND_MAX || live_board_head(fd, &head) < 0 ||
			pread(fd, &count, sizeof(count),
					SONDE_SEGMENT_HEAD_BYTES + (off_t)offsetof(struct sonde_board, knob_count)) !=
					(ssize_t)sizeof(count))
		return;
	for (uint32_t i = 0; i < count && i < SONDE_KNOBS_MAX; i++) {
		off_t at = (off_t)(SONDE_SEGMENT_HEAD_BYTES + offsetof(struct sonde_board, knobs) +
				i * sizeof(to->knob));

		if (pread(fd, &to->knob, sizeof(to->knob), at) != (ssize_t)sizeof(to->knob))
			return;
		to->knob.name[SONDE_NAME_BYTES - 1] = to->knob.choices[SONDE_CHOICES_BYTES - 1] = '\0';
		if (!to->knob.kind || strcmp(to->knob.name, s->name) != 0)
			continue;
		to->place = (struct change_place){ .kind = CHANGE_KNOB, .knob = i };
		snprintf(to->place.path, sizeof(to->place.path), "%s", path);
		s->count++;
		return;
	}
}

static bool choice_number(const char *choices, const char *word, uint64_t *number)
{
	size_t n = strlen(word);

	*number = 0;
	for (const char *at = choices;; at++, ++*number) {
		const char *end = strchrnul(at, '|');

		if ((size_t)(end - at) == n && strncmp(at, word, n) == 0)
			return true;
		if (!*end)
			return false;
		at = end;
	}
}

int knob_text(const struct knob_found *f, double value, const char *choice, char text[CHANGE_TEXT_BYTES],
		struct sonde_err *err)
{
	const struct sonde_knob *k = &f->knob;
	uint64_t bits;
	bool is_fine;

	if (k->kind == SONDE_KNOB_CHOICE) {
		is_fine = choice && choice_number(k->choices, choice, &bits);
	} else if (k->kind == SONDE_KNOB_REAL) {
		is_fine = !choice && value >= live_real(k->low) && value <= live_real(k->high);
		memcpy(&bits, &value, sizeof(bits));
	} else {
		is_fine = !choice && fabs(value) < 9e15 && round(value) >= (double)(int64_t)k->low &&
				round(value) <= (double)(int64_t)k->high;
		bits = is_fine ? (uint64_t)(int64_t)round(value) : 0;
	}
	if (!is_fine)
		return err_set(err, ERANGE, "the knob '%s' does not accept this value", k->name);
	snprintf(text, CHANGE_TEXT_BYTES, "%016" PRIx64, bits);
	return 0;
}

enum word_kind { WORD_BEAT, WORD_REMEMBER, WORD_FORGET };

struct word {
	enum word_kind kind;
	struct change_place place;
	char before[CHANGE_TEXT_BYTES];
};

struct pending_changes {
	struct word all[WATCHDOG_CHANGES_MAX];
	size_t count;
	struct journal *journal;
};

static size_t find(const struct pending_changes *m, const struct change_place *place)
{
	size_t i = 0;

	while (i < m->count && !change_is_same(&m->all[i].place, place))
		i++;
	return i;
}

static void take(struct pending_changes *m, const struct word *w)
{
	size_t i = w->kind == WORD_BEAT ? 0 : find(m, &w->place);

	if (w->kind == WORD_REMEMBER && i == m->count && m->count < WATCHDOG_CHANGES_MAX)
		m->all[m->count++] = *w;
	if (w->kind == WORD_FORGET && i < m->count)
		memmove(&m->all[i], &m->all[i + 1], (--m->count - i) * sizeof(m->all[0]));
}

static void put_back(struct pending_changes *m, const char *why)
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

static void watch_over(int sock, int64_t lease_ns, struct journal *journal) __attribute__((noreturn));
static void watch_over(int sock, int64_t lease_ns, struct journal *journal)
{
	static struct pending_changes m;
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
		long most;

		prctl(PR_SET_NAME, "sonde-watchdog");
		setsid();
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL); /* it ends only with us, or by SIGKILL */
		most = sysconf(_SC_OPEN_MAX);
		for (int one = 0; one < (most > 0 && most < 65536 ? most : 65536); one++)
			if (one != ends[1] && one != journal->fd)
				close(one);
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

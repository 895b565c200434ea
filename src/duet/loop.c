#include "duet/run-commands.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 256, ITERATIONS_MAX = 1 << 20 };

/* Parses a number or '-' for unknown; false if neither. */
static bool take_number(const char **at, double *number)
{
	char *end;

	*at += strspn(*at, " \t");
	*number = NAN;
	if (**at == '-' && (!(*at)[1] || (*at)[1] == ' ')) {
		(*at)++;
		return true;
	}
	*number = strtod(*at, &end);
	if (end == *at || !isfinite(*number))
		return false;
	*at = end;
	return true;
}

enum duet_word duet_loop_line(const char *line, int64_t granted_ns, int64_t now_ns, struct duet_iteration *it)
{
	double numbers[4] = { NAN, NAN, NAN, NAN };
	const char *at = line + 3;
	bool has_times;

	if (!strcmp(line, "begin"))
		return DUET_WORD_BEGIN;
	if (strncmp(line, "end", 3) != 0 || (line[3] && line[3] != ' '))
		return DUET_WORD_WRONG;
	for (size_t i = 0; i < 4 && at[strspn(at, " \t")]; i++)
		if (!take_number(&at, &numbers[i]))
			return DUET_WORD_WRONG;
	has_times = numbers[0] >= 0 && numbers[1] >= numbers[0] && numbers[1] < 9e18;
	if (at[strspn(at, " \t")] || (!has_times && !isnan(numbers[0])))
		return DUET_WORD_WRONG;
	*it = has_times ? duet_iteration_at((int64_t)numbers[0], (int64_t)numbers[1])
			: duet_iteration_at(granted_ns, now_ns);
	it->metrics[DUET_CPU] = numbers[2];
	it->metrics[DUET_VALUE] = numbers[3];
	return DUET_WORD_END;
}

struct side {
	struct job *job;
	int sock; /* -1: closed */
	bool is_waiting, is_going, has_ended;
	int64_t granted_ns, waiting_ns;
	char line[LINE_MAX_BYTES];
	size_t length;
};

struct stage {
	struct duet_exec *e;
	const struct duet_task *task;
	struct duet_run *run;
	struct side sides[DUET_SIDES];
	struct sonde_err *err;
};

/* Creates two connected sockets, ours close-on-exec; theirs below 10 if possible, for shells that know only one
 * digit. */
static int make_pair(int *ours, int *theirs, struct sonde_err *err)
{
	int fds[2], low;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return err_sys(err, errno, "cannot make a channel for iterations");
	*ours = fcntl(fds[0], F_DUPFD_CLOEXEC, 32);
	close(fds[0]);
	low = fcntl(fds[1], F_DUPFD_CLOEXEC, 3);
	close(fds[1]);
	*theirs = low;
	if (*ours < 0 || low < 0)
		return err_sys(err, errno, "cannot make a channel for iterations");
	return fcntl(*ours, F_SETFL, O_NONBLOCK) ? err_sys(err, errno, "cannot make a channel for iterations") : 0;
}

static int start_side(struct stage *s, enum duet_side side)
{
	char variable[64];
	const char *env[] = { variable, NULL };
	const struct duet_turn *turn = &s->task->turns[0];
	bool is_together = s->task->design == DUET_SYNC || s->task->design == DUET_ASYNC;
	int theirs = -1, rc = make_pair(&s->sides[side].sock, &theirs, s->err);

	if (!rc) {
		snprintf(variable, sizeof(variable), DUET_LOOP_FD "=%d", theirs);
		rc = duet_exec_start(s->e, side, s->task->is_aa, is_together ? duet_exec_cpus(s->e, side, turn) : NULL,
				&theirs, 1, env, &s->sides[side].job, s->err);
	}
	if (theirs >= 0)
		close(theirs);
	s->sides[side].waiting_ns = clock_mono_ns();
	return rc;
}

static void answer(struct side *x, const char *word)
{
	/* the next poll detects a program that has exited */
	if (x->sock >= 0 && send(x->sock, word, strlen(word), MSG_NOSIGNAL) < 0)
		x->is_waiting = false;
	x->is_waiting = false;
}

static void go(struct stage *s, enum duet_side side)
{
	struct side *x = &s->sides[side];

	x->is_going = true;
	x->granted_ns = clock_mono_ns();
	answer(x, "go\n");
}

static size_t count_of(const struct stage *s, enum duet_side side)
{
	return s->run->sides[side].count;
}

/* Which side is next, if only one runs at a time? */
static enum duet_side turn_of(const struct stage *s)
{
	size_t a = count_of(s, DUET_A), b = count_of(s, DUET_B);

	if (a != b)
		return a < b ? DUET_A : DUET_B;
	return a < s->task->turn_count && s->task->turns[a].is_first_b ? DUET_B : DUET_A;
}

/* Releases the sides that may start. */
static void grant(struct stage *s)
{
	struct side *a = &s->sides[DUET_A], *b = &s->sides[DUET_B];
	size_t enough = s->task->turn_count, na = count_of(s, DUET_A), nb = count_of(s, DUET_B);
	bool is_over = (na >= enough && nb >= enough) || na >= ITERATIONS_MAX || nb >= ITERATIONS_MAX || a->has_ended ||
			b->has_ended;

	for (int side = 0; side < DUET_SIDES; side++)
		if (is_over && s->sides[side].is_waiting)
			answer(&s->sides[side], "stop\n");
	if (is_over)
		return;
	if (s->task->design == DUET_ASYNC) {
		for (int side = 0; side < DUET_SIDES; side++)
			if (s->sides[side].is_waiting)
				go(s, (enum duet_side)side);
	} else if (s->task->design == DUET_SYNC) {
		if (a->is_waiting && b->is_waiting) {
			bool is_b = s->task->turns[count_of(s, DUET_A) % s->task->turn_count].is_first_b;

			go(s, is_b ? DUET_B : DUET_A);
			go(s, is_b ? DUET_A : DUET_B);
		}
	} else if (!a->is_going && !b->is_going && s->sides[turn_of(s)].is_waiting) {
		go(s, turn_of(s));
	}
}

static int take_line(struct stage *s, enum duet_side side)
{
	struct side *x = &s->sides[side];
	struct duet_iteration it;
	enum duet_word word = duet_loop_line(x->line, x->granted_ns, clock_mono_ns(), &it);

	if (word == DUET_WORD_WRONG)
		return err_set(s->err, EPROTO,
				"%c wrote '%.60s' to " DUET_LOOP_FD ", which is neither 'begin' nor 'end ...'",
				"AB"[side], x -> line);
	if (word == DUET_WORD_BEGIN) {
		x->is_waiting = true;
		x->waiting_ns = clock_mono_ns();
		return 0;
	}
	if (!x->is_going && s->task->design != DUET_ASYNC) {
		err_set(s->err, EPROTO, "%c reports an iteration without asking to begin it", "AB"[side]);
		err_hint(s->err, "--design async takes programs that do not wait");
		return -EPROTO;
	}
	x->is_going = false;
	return duet_samples_add(&s->run->sides[side], &it) ? err_sys(s->err, ENOMEM, "cannot keep an iteration") : 0;
}

static int take_bytes(struct stage *s, enum duet_side side, const char *bytes, size_t n)
{
	struct side *x = &s->sides[side];
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		if (bytes[i] == '\n') {
			x->line[x->length] = '\0';
			x->length = 0;
			rc = take_line(s, side);
		} else if (x->length + 1 < sizeof(x->line)) {
			x->line[x->length++] = bytes[i];
		} else {
			rc = err_set(s->err, EPROTO, "%c wrote a line of more than %d bytes to " DUET_LOOP_FD,
					"AB"[side], LINE_MAX_BYTES);
		}
	}
	return rc;
}

static int hear(struct stage *s, enum duet_side side)
{
	char bytes[4096];
	ssize_t n = recv(s->sides[side].sock, bytes, sizeof(bytes), 0);

	if (n > 0)
		return take_bytes(s, side, bytes, (size_t)n);
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(s->sides[side].sock);
		s->sides[side].sock = -1;
	}
	return 0;
}

static int side_ended(struct stage *s, enum duet_side side)
{
	struct side *x = &s->sides[side];
	int rc = 0;

	/* its last message may still be unread */
	while (x->sock >= 0 && !rc) {
		struct pollfd p = { .fd = x->sock, .events = POLLIN };

		if (poll(&p, 1, 0) <= 0)
			break;
		rc = hear(s, side);
	}
	x->has_ended = true;
	if (!rc)
		rc = job_wait(x->job, INT64_MAX, s->err);
	if (!rc)
		rc = duet_exec_check(s->e, side, x->job, s->err);
	if (!rc && !count_of(s, side)) {
		rc = err_set(s->err, ENODATA, "%c has ended without an iteration", "AB"[side]);
		err_hint(s->err, "it must use sonde/duet.h, sonde.duet, duet.sh or the protocol in sonde-duet(1)");
	}
	return rc;
}

/* Returns the first side that has been silent for too long, in or before an iteration; -1: none. */
static int late_side(const struct stage *s)
{
	for (int side = 0; side < DUET_SIDES; side++) {
		const struct side *x = &s->sides[side];
		int64_t since = x->is_going ? x->granted_ns : x->waiting_ns;

		if (s->e->timeout_ns && x->job && !x->has_ended && !x->is_waiting &&
				clock_mono_ns() - since > s->e->timeout_ns)
			return side;
	}
	return -1;
}

static int step(struct stage *s)
{
	struct pollfd fds[1 + 2 * DUET_SIDES] = { { .fd = s->e->interrupt_fd, .events = POLLIN } };
	int rc = 0, n, late;

	for (int side = 0; side < DUET_SIDES; side++) {
		const struct side *x = &s->sides[side];

		fds[1 + side] = (struct pollfd){ .fd = x->sock, .events = POLLIN };
		fds[3 + side] = (struct pollfd){ .fd = x->has_ended || !x->job ? -1 : job_pidfd(x->job),
			.events = POLLIN };
	}
	n = poll(fds, 5, s->e->timeout_ns ? 200 : -1);
	if (n < 0 && errno != EINTR)
		return err_sys(s->err, errno, "cannot wait for the programs");
	if (n > 0 && fds[0].revents)
		return err_set(s->err, EINTR, "interrupted");
	for (int side = 0; side < DUET_SIDES && n > 0 && !rc; side++)
		if (fds[1 + side].revents)
			rc = hear(s, (enum duet_side)side);
	for (int side = 0; side < DUET_SIDES && n > 0 && !rc; side++)
		if (fds[3 + side].revents)
			rc = side_ended(s, (enum duet_side)side);
	late = rc ? -1 : late_side(s);
	if (late >= 0)
		rc = err_set(s->err, ETIMEDOUT, "%c has said nothing for %.1f s and was stopped", "AB"[late],
				(double)s -> e -> timeout_ns / 1e9);
	if (!rc)
		grant(s);
	return rc;
}

static int run(void *self, const struct duet_task *task, struct duet_run *out, struct sonde_err *err)
{
	struct stage s = { .e = self,
		.task = task,
		.run = out,
		.sides = { { .sock = -1 }, { .sock = -1 } },
		.err = err };
	enum duet_side first = task->turns[0].is_first_b ? DUET_B : DUET_A;
	int rc = 0;

	out->start_ns = clock_mono_ns();
	for (int side = 0; side < DUET_SIDES && !rc; side++)
		rc = duet_exec_hook(s.e, (enum duet_side)side, "prepare", s.e->prepare[task->is_aa ? DUET_A : side],
				err);
	if (!rc)
		rc = start_side(&s, first);
	if (!rc)
		rc = start_side(&s, DUET_B - first);
	while (!rc && !(s.sides[DUET_A].has_ended && s.sides[DUET_B].has_ended))
		rc = step(&s);
	for (int side = 0; side < DUET_SIDES; side++) {
		job_free(s.sides[side].job);
		if (s.sides[side].sock >= 0)
			close(s.sides[side].sock);
		if (!rc)
			rc = duet_exec_hook(s.e, (enum duet_side)side, "conclude",
					s.e->conclude[task->is_aa ? DUET_A : side], err);
	}
	out->end_ns = clock_mono_ns();
	return rc;
}

static int64_t now_ns(void *self)
{
	return clock_mono_ns();
}

struct duet_runner duet_loop_runner(struct duet_exec *e)
{
	return (struct duet_runner){ .self = e, .now_ns = now_ns, .run = run };
}

#include "record/hosts-private.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/vec.h"
#include "launch/spawn-command.h"
#include "record/host-agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GREETING_MS 60000 /* the user may have to type a password */
#define ANSWER_MS 20000
#define GREETING_LINES_MAX 1000 /* output of a login shell before the greeting */
#define PINGS_MAX (1u << 20)
#define FILE_BYTES_MAX ((int64_t)1 << 40)

static int break_link(struct hostlink *l, int rc)
{
	l->is_broken = true;
	return rc;
}

static int fill(struct hostlink *l, int timeout_ms)
{
	struct pollfd p = { .fd = l->from, .events = POLLIN };
	l->start = l->end = 0;
	int n = poll(&p, 1, timeout_ms);
	if (n <= 0)
		return break_link(l, err_set(&l->why, ETIMEDOUT, "no response"));
	ssize_t got = read(l->from, l->bytes, sizeof(l->bytes));
	if (got <= 0)
		return break_link(l, err_set(&l->why, EPIPE, "the connection has ended"));
	l->end = (size_t)got;
	return 0;
}

static int get_line(struct hostlink *l, char line[HOSTLINK_LINE_BYTES], int timeout_ms)
{
	size_t n = 0;
	for (;;) {
		if (l->start == l->end) {
			int rc = fill(l, timeout_ms);
			if (rc)
				return rc;
		}
		char c = l->bytes[l->start++];
		if (c == '\n' || n + 1 == HOSTLINK_LINE_BYTES)
			break;
		line[n++] = c;
	}
	line[n] = '\0';
	return 0;
}

static int read_response(struct hostlink *l, const char *word, char line[HOSTLINK_LINE_BYTES])
{
	int rc = get_line(l, line, ANSWER_MS);
	if (rc)
		return rc;
	if (!strncmp(line, word, strlen(word)))
		return 0;
	if (!strncmp(line, "error ", 6))
		return err_set(&l->why, EIO, "%s", line + 6);
	return break_link(l, err_set(&l->why, EPROTO, "unexpected response '%.100s'", line));
}

__attribute__((format(printf, 2, 3))) static int ask(struct hostlink *l, const char *format, ...)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	va_list ap;
	if (l->is_broken)
		return -EPIPE;
	va_start(ap, format);
	buf_vaddf(&line, format, ap);
	va_end(ap);
	buf_addc(&line, '\n');
	int rc = fs_write_all(l->to, line.data, line.len);
	return rc ? break_link(l, err_sys(&l->why, -rc, "the connection has ended")) : 0;
}

static int start(struct hostlink *l, char *const argv[], struct sonde_err *err)
{
	sigset_t mask;
	int to[2], from[2];
	if (pipe2(to, O_CLOEXEC))
		return err_sys(err, errno, "cannot create a pipe");
	if (pipe2(from, O_CLOEXEC)) {
		close(to[0]);
		close(to[1]);
		return err_sys(err, errno, "cannot create a pipe");
	}
	/* Signals of the terminal are forwarded by us; all others are for the remote shell. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	struct launch_command c = { .argv = argv, .fds = { to[0], from[1], JOB_FD_OURS }, .mask = &mask };
	int rc = launch_spawn(&c, &l->pid, err);
	close(to[0]);
	close(from[1]);
	l->to = to[1];
	l->from = from[0];
	if (rc)
		l->pid = 0;
	return rc;
}

int hostlink_open(struct hostlink *l, char *const argv[], struct sonde_err *err)
{
	char line[HOSTLINK_LINE_BYTES];
	*l = (struct hostlink){ .to = -1, .from = -1, .is_broken = true };
	int rc = start(l, argv, err);
	if (rc)
		return rc;
	l->is_broken = false;
	for (unsigned i = 0; i < GREETING_LINES_MAX; i++) {
		rc = get_line(l, line, GREETING_MS);
		if (rc || !strcmp(line, HOST_GREETING))
			break;
	}
	if (rc) {
		err_set(err, -rc, "%s", l->why.text);
		err_hint(err, "sonde must be at the same path there; otherwise use --remote PATH");
	}
	return rc;
}

void hostlink_ping(struct hostlink *l, unsigned times)
{
	char line[HOSTLINK_LINE_BYTES];
	for (unsigned i = 0; i < times; i++) {
		if (!VEC_GROW(l->pings, l->ping_cap, l->ping_count + 1, PINGS_MAX))
			return;
		struct clock_ping p = { .sent_ns = clock_mono_ns() };
		if (ask(l, "time") || read_response(l, "time ", line))
			return;
		p.received_ns = clock_mono_ns();
		p.theirs_ns = strtoll(line + strlen("time "), NULL, 10);
		l->pings[l->ping_count++] = p;
	}
}

int hostlink_prepare(struct hostlink *l, const void *bytes, size_t n, char dir[HOSTLINK_LINE_BYTES])
{
	char line[HOSTLINK_LINE_BYTES];
	int rc = ask(l, "prepare %zu", n);
	if (!rc && fs_write_all(l->to, bytes, n))
		rc = break_link(l, err_set(&l->why, EPIPE, "the connection has ended"));
	if (!rc)
		rc = read_response(l, "dir ", line);
	if (!rc)
		memcpy(dir, line + strlen("dir "), strlen(line) - strlen("dir ") + 1);
	return rc;
}

int hostlink_signal(struct hostlink *l, int number)
{
	char line[HOSTLINK_LINE_BYTES];
	int rc = ask(l, "signal %d", number);
	return rc ? rc : read_response(l, "ok", line);
}

int hostlink_lives(struct hostlink *l, pid_t pid)
{
	char line[HOSTLINK_LINE_BYTES];
	int rc = ask(l, "lives %d", (int)pid);
	if (!rc)
		rc = read_response(l, "lives ", line);
	return rc ? rc : line[strlen("lives ")] == '1';
}

/* A name that stays below the directory: run.json, or a table. */
static bool is_name(const char *name)
{
	const char *base = !strncmp(name, "tables/", 7) ? name + 7 : name;
	return *base && *base != '.' && !strchr(base, '/') && (base != name || !strcmp(name, "run.json"));
}

static int receive_file(struct hostlink *l, int dirfd, char *line)
{
	char *name = line + strlen("file "), *blank = strrchr(name, ' ');
	int64_t bytes = blank ? strtoll(blank + 1, NULL, 10) : -1;
	if (blank)
		*blank = '\0';
	if (bytes < 0 || bytes > FILE_BYTES_MAX || !is_name(name))
		return break_link(l, err_set(&l->why, EPROTO, "it sends a file '%.100s'", name));
	CLEANUP(cleanup_fd) int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return break_link(l, err_sys(&l->why, errno, "cannot create '%s'", name));
	int64_t left = bytes;
	while (left > 0) {
		int rc = l->start == l->end ? fill(l, ANSWER_MS) : 0;
		if (rc)
			return rc;
		size_t part = l->end - l->start;
		part = (int64_t)part < left ? part : (size_t)left;
		rc = fs_write_all(fd, l->bytes + l->start, part);
		if (rc)
			return break_link(l, err_sys(&l->why, -rc, "cannot write its run"));
		l->start += part;
		left -= (int64_t)part;
	}
	return 0;
}

int hostlink_fetch(struct hostlink *l, int dirfd)
{
	char line[HOSTLINK_LINE_BYTES];
	int rc = ask(l, "send");
	if (!rc && mkdirat(dirfd, "tables", 0700))
		return err_sys(&l->why, errno, "cannot create a directory");
	while (!rc) {
		rc = get_line(l, line, ANSWER_MS);
		if (rc || !strcmp(line, "end"))
			break;
		if (!strncmp(line, "error ", 6))
			rc = err_set(&l->why, EIO, "%s", line + 6);
		else if (!strncmp(line, "file ", 5))
			rc = receive_file(l, dirfd, line);
		else
			rc = break_link(l, err_set(&l->why, EPROTO, "unexpected response '%.100s'", line));
	}
	return rc;
}

void hostlink_close(struct hostlink *l)
{
	char line[HOSTLINK_LINE_BYTES];
	if (l->pid && !l->is_broken && !ask(l, "bye"))
		read_response(l, "ok", line);
	if (l->to >= 0)
		close(l->to);
	if (l->from >= 0)
		close(l->from);
	if (l->pid)
		launch_reap(l->pid);
	free(l->pings);
	*l = (struct hostlink){ .to = -1, .from = -1, .is_broken = true };
}

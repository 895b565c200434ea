#include "record/host-agent.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 256
#define END_WAIT_MS 10000 /* for a recorder that was asked to stop */

struct agent {
	int in, out;
	char dir[FS_TEMP_BYTES]; /* "" before prepare */
};

static bool read_all(int fd, char *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = read(fd, bytes + done, n - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* Byte by byte: the bytes after the line belong to another reader. */
static bool read_line(int fd, char line[LINE_BYTES])
{
	size_t n = 0;
	for (char c; n + 1 < LINE_BYTES && read_all(fd, &c, 1);) {
		if (c == '\n') {
			line[n] = '\0';
			return true;
		}
		line[n++] = c;
	}
	return false;
}

__attribute__((format(printf, 2, 3))) static bool say(const struct agent *a, const char *format, ...)
{
	char line[4096];
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(line, sizeof(line) - 1, format, ap);
	va_end(ap);
	n = n < 0 ? 0 : n > (int)sizeof(line) - 2 ? (int)sizeof(line) - 2 : n;
	line[n++] = '\n';
	return fs_write_all(a->out, line, (size_t)n) == 0;
}

static pid_t recorder_of(const char *dir)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	buf_addf(&path, "%s/pid", dir);
	if (!dir[0] || fs_read_file(AT_FDCWD, path.data, 32, &text, NULL))
		return 0;
	pid_t pid = (pid_t)strtol(text.data, NULL, 10);
	return pid > 1 ? pid : 0;
}

static bool respond_time(struct agent *a, const char *rest)
{
	(void)rest;
	return say(a, "time %lld", (long long)clock_mono_ns());
}

static bool respond_prepare(struct agent *a, const char *rest)
{
	struct sonde_err err = SONDE_ERR_INIT;
	size_t n = (size_t)strtoull(rest, NULL, 10);
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(buf_release) struct buf bytes = BUF_INIT;
	char *room = n && n <= HOST_COMMAND_BYTES_MAX && !a->dir[0] ? buf_room(&bytes, n) : NULL;
	if (!room || !read_all(a->in, room, n))
		return false;
	if (fs_temp_dir(a->dir, "sonde-host", &err))
		return say(a, "error %s", err.text);
	buf_addf(&path, "%s/command", a->dir);
	if (fs_replace_file(AT_FDCWD, path.data, room, n, &err))
		return say(a, "error %s", err.text);
	return say(a, "dir %s", a->dir);
}

static bool respond_signal(struct agent *a, const char *rest)
{
	pid_t pid = recorder_of(a->dir);
	int number = (int)strtol(rest, NULL, 10);
	if (pid && number > 0 && number < NSIG)
		kill(pid, number);
	return say(a, "ok");
}

static bool respond_lives(struct agent *a, const char *rest)
{
	pid_t pid = (pid_t)strtol(rest, NULL, 10);
	return say(a, "lives %d", pid > 0 && (!kill(pid, 0) || errno == EPERM));
}

static bool send_file(const struct agent *a, int dirfd, const char *name, const char *shown)
{
	char bytes[65536];
	struct stat st;
	CLEANUP(cleanup_fd) int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return true; /* missing file: nothing to send */
	if (!say(a, "file %s %lld", shown, (long long)st.st_size))
		return false;
	for (int64_t left = st.st_size; left > 0;) {
		size_t part = left < (int64_t)sizeof(bytes) ? (size_t)left : sizeof(bytes);
		if (!read_all(fd, bytes, part) || fs_write_all(a->out, bytes, part))
			return false; /* truncated: the connection is unusable */
		left -= (int64_t)part;
	}
	return true;
}

static bool respond_send(struct agent *a, const char *rest)
{
	(void)rest;
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	char shown[300];
	buf_addf(&path, "%s/" HOST_RUN, a->dir);
	CLEANUP(cleanup_fd) int run = open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (run < 0)
		return say(a, "error cannot open the run: %s", strerror(errno));
	bool is_fine = send_file(a, run, "run.json", "run.json");
	int tables = openat(run, "tables", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = tables >= 0 ? fdopendir(tables) : NULL;
	for (struct dirent *e; is_fine && dir && (e = readdir(dir));) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(shown, sizeof(shown), "tables/%s", e->d_name);
		is_fine = send_file(a, tables, e->d_name, shown);
	}
	if (dir)
		closedir(dir);
	else if (tables >= 0)
		close(tables);
	return is_fine && say(a, "end");
}

static bool respond_bye(struct agent *a, const char *rest)
{
	(void)rest;
	if (a->dir[0])
		fs_remove_tree(AT_FDCWD, a->dir);
	a->dir[0] = '\0';
	say(a, "ok");
	return false;
}

static const struct {
	const char *word;
	bool (*respond)(struct agent *a, const char *rest); /* false: the connection ends */
} responses[] = {
	{ "time", respond_time },
	{ "prepare", respond_prepare },
	{ "signal", respond_signal },
	{ "lives", respond_lives },
	{ "send", respond_send },
	{ "bye", respond_bye },
};

static bool respond(struct agent *a, const char *line)
{
	size_t n = strcspn(line, " ");
	for (size_t i = 0; i < sizeof(responses) / sizeof(*responses); i++)
		if (strlen(responses[i].word) == n && !memcmp(responses[i].word, line, n))
			return responses[i].respond(a, line + n);
	return say(a, "error unknown request");
}

int host_agent(int in, int out, struct sonde_err *err)
{
	struct agent a = { .in = in, .out = out };
	char line[LINE_BYTES];
	(void)err;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN); /* EOF on stdin reports it */
	say(&a, HOST_GREETING);
	while (read_line(in, line) && respond(&a, line))
		;
	/* The client is gone: stop the program and remove its directory. */
	pid_t pid = recorder_of(a.dir);
	for (int ms = 0; pid && !kill(pid, ms ? 0 : SIGTERM) && ms < END_WAIT_MS; ms += 50)
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	if (a.dir[0])
		fs_remove_tree(AT_FDCWD, a.dir);
	return 0;
}

static int record_pid(const char *dir, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	char text[32];
	buf_addf(&path, "%s/pid", dir);
	int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	return fs_replace_file(AT_FDCWD, path.data, text, (size_t)n, err);
}

/* The NUL-terminated words of a command, with room for `more` in front. The caller frees the array. */
static char **words_of(const struct buf *bytes, size_t more)
{
	size_t count = 0;
	for (size_t i = 0; i < bytes->len; i++)
		count += bytes->data[i] == '\0';
	char **words = count >= 2 && !bytes->data[bytes->len - 1] ? calloc(count + more + 1, sizeof(char *)) : NULL;
	char *at = bytes->data;
	for (size_t i = 0; words && i < count; i++, at += strlen(at) + 1)
		words[more + i] = at;
	return words;
}

int host_run(const char *dir, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(buf_release) struct buf output = BUF_INIT;
	CLEANUP(buf_release) struct buf bytes = BUF_INIT;
	char record[] = "record";
	buf_addf(&path, "%s/command", dir);
	buf_addf(&output, "--output=%s/" HOST_RUN, dir);
	int rc = fs_read_file(AT_FDCWD, path.data, HOST_COMMAND_BYTES_MAX, &bytes, err);
	char **words = rc ? NULL : words_of(&bytes, 1);
	if (!words)
		return rc ? rc : err_set(err, EINVAL, "no command in '%s'", path.data);
	const char *directory = words[1], *sonde = words[2];
	words[0] = words[2];
	words[1] = record;
	words[2] = output.data;
	rc = record_pid(dir, err);
	if (!rc && chdir(directory))
		rc = err_sys(err, errno, "cannot go to '%s'", directory);
	if (!rc) {
		execv(sonde, words);
		rc = err_sys(err, errno, "cannot execute '%s'", sonde);
	}
	free(words);
	return rc;
}

#include "record/hosts.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "launch/spawn-command.h"
#include "record/hosts-private.h"
#include "record/ringdir.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The remote shell, the host, sonde and two or three words. The caller frees the array, not the words. */
static char **words_of(const struct hosts *h, const struct host *one, const char *word, const char *dir)
{
	size_t n = 0;
	while (h->o->shell[n])
		n++;
	char **argv = calloc(n + 6, sizeof(char *));
	if (!argv)
		return NULL;
	memcpy(argv, h->o->shell, n * sizeof(char *));
	const char *const rest[] = { one->node ? one->node : one->name, h->o->sonde, "host", word, dir };
	for (size_t i = 0; i < sizeof(rest) / sizeof(*rest) && rest[i]; i++)
		argv[n++] = (char *)(uintptr_t)rest[i];
	return argv;
}

int hosts_open_link(const struct hosts *h, struct host *one, struct sonde_err *err)
{
	char **argv = words_of(h, one, "agent", NULL);
	one->link = calloc(1, sizeof(*one->link));
	int rc = argv && one->link ? hostlink_open(one->link, argv, err) : err_sys(err, ENOMEM, "cannot reach it");
	free(argv);
	if (rc)
		err_prefix(err, "host '%s'", one->name);
	return rc;
}

static void add_word(struct buf *out, const char *word)
{
	buf_add(out, word, strlen(word) + 1);
}

static void start_recorder(struct hosts *h, struct host *one)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT;
	char dir[HOSTLINK_LINE_BYTES];
	/* The command of its recorder, in the format of host-agent.h. */
	char cwd[4096];
	add_word(&command, getcwd(cwd, sizeof(cwd)) ? cwd : "/");
	add_word(&command, h->o->sonde);
	for (char *const *w = h->o->options; w && *w; w++)
		add_word(&command, *w);
	if (h->o->argv)
		add_word(&command, "--");
	for (char *const *w = h->o->argv; w && *w; w++)
		add_word(&command, *w);
	if (buf_error(&command) || hostlink_prepare(one->link, command.data, command.len, dir)) {
		one->why = one->link->why;
	} else {
		char **argv = words_of(h, one, "run", dir);
		/* In a separate group: signals of the terminal reach it through its agent, once. */
		struct launch_command c = { .argv = argv,
			.fds = { JOB_FD_NULL, JOB_FD_OURS, JOB_FD_OURS },
			.mask = &h->old_mask,
			.has_own_group = true };
		int rc = argv && argv[0] ? launch_spawn(&c, &one->pid, &one->why)
					 : err_sys(&one->why, ENOMEM, "out of memory");
		free(argv);
		if (rc) {
			one->pid = 0;
			err_prefix(&one->why, "cannot start its recorder");
		}
	}
}

static size_t reap(struct hosts *h)
{
	size_t running = 0;
	int status;
	for (size_t i = 0; i < h->count; i++) {
		struct host *one = &h->all[i];
		if (one->pid && waitpid(one->pid, &status, WNOHANG) == one->pid) {
			one->status = status;
			one->pid = 0;
		}
		running += one->pid != 0;
	}
	return running;
}

static void watch(struct hosts *h)
{
	int64_t due_ns = clock_mono_ns() + HOSTS_PING_MS * 1000000ll;
	while (reap(h)) {
		int64_t now = clock_mono_ns();
		struct pollfd p = { .fd = h->signals, .events = POLLIN };
		if (poll(&p, 1, due_ns > now ? (int)((due_ns - now) / 1000000) + 1 : 0) > 0) {
			struct signalfd_siginfo info;
			while (read(h->signals, &info, sizeof(info)) == sizeof(info))
				for (size_t i = 0; info.ssi_signo != SIGCHLD && i < h->count; i++)
					if (h->all[i].pid)
						hostlink_signal(h->all[i].link, (int)info.ssi_signo);
		}
		if (clock_mono_ns() < due_ns)
			continue;
		for (size_t i = 0; i < h->count; i++)
			hostlink_ping(h->all[i].link, HOSTS_FEW);
		due_ns = clock_mono_ns() + HOSTS_PING_MS * 1000000ll;
	}
	h->end_mono_ns = clock_mono_ns();
}

static int exit_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void write_host(struct json *j, const struct host *one)
{
	struct clock_fit f = { 0 };
	json_object(j);
	json_kstr(j, "name", one->name);
	if (one->node)
		json_kstr(j, "node", one->node);
	json_kstr(j, "run", one->is_fetched ? one->place.data : NULL);
	if (one->why.text[0])
		json_kstr(j, "reason", one->why.text);
	json_kint(j, "status", exit_code(one->status));
	if (one->is_here || (one->link && !clock_fit(one->link->pings, one->link->ping_count, &f))) {
		json_key(j, "clock");
		json_object(j);
		json_kint(j, "at_ns", f.at_ns);
		json_kint(j, "offset_ns", f.offset_ns);
		json_kreal(j, "drift", f.drift);
		json_kint(j, "bound_ns", f.bound_ns);
		json_kint(j, "trip_ns", f.trip_ns);
		json_kuint(j, "pings", f.pings);
		json_end(j);
	}
	json_end(j);
}

int hosts_write(const struct hosts *h, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char cwd[4096];
	struct json j;
	json_init(&j, &text, true);
	json_object(&j);
	json_kstr(&j, "name", h->o->name);
	json_key(&j, "argv");
	json_array(&j);
	for (char *const *w = h->o->argv; w && *w; w++)
		json_str(&j, *w);
	json_end(&j);
	json_kstr(&j, "cwd", getcwd(cwd, sizeof(cwd)) ? cwd : NULL);
	json_kint(&j, "start_mono_ns", h->start_mono_ns);
	json_kint(&j, "start_real_ns", h->start_real_ns);
	json_kint(&j, "end_mono_ns", h->end_mono_ns);
	json_key(&j, "hosts");
	json_array(&j);
	for (size_t i = 0; i < h->count; i++)
		write_host(&j, &h->all[i]);
	json_end(&j);
	json_end(&j);
	buf_addc(&text, '\n');
	return fs_replace_file(h->run.dirfd, HOSTS_FILE, text.data, text.len, err);
}

int hosts_join(const char *path, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf sonde = BUF_INIT;
	char word[] = "join";
	char *argv[] = { NULL, word, (char *)(uintptr_t)path, NULL };
	struct launch_command c = { .argv = argv, .fds = { JOB_FD_OURS, JOB_FD_OURS, JOB_FD_OURS } };
	int rc = fs_prefix(&sonde, err);
	if (rc)
		return rc;
	buf_adds(&sonde, "/bin/sonde");
	argv[0] = sonde.data;
	rc = launch_run(&c, err);
	if (rc <= 0)
		return rc;
	err_set(err, EIO, "the runs of the hosts are in '%s', but could not be joined", path);
	err_hint(err, "sonde join %s tries again", path);
	return -EIO;
}

static int record_all(struct hosts *h, struct sonde_err *err)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < h->count; i++)
		rc = hosts_open_link(h, &h->all[i], err);
	if (!rc)
		rc = writers_create_run(&h->run, h->o->dir, h->o->name, h->o->is_forced, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < h->count; i++)
		hostlink_ping(h->all[i].link, HOSTS_BURST);
	h->start_mono_ns = clock_mono_ns();
	h->start_real_ns = clock_real_ns();
	for (size_t i = 0; i < h->count; i++)
		start_recorder(h, &h->all[i]);
	watch(h);
	if (mkdirat(h->run.dirfd, "hosts", 0700))
		return err_sys(err, errno, "cannot create '%s/hosts'", h->run.path);
	CLEANUP(cleanup_fd) int hostsfd = openat(h->run.dirfd, "hosts", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* After the last pings, the runs are copied. */
	for (size_t i = 0; i < h->count; i++) {
		struct host *one = &h->all[i];
		hostlink_ping(one->link, HOSTS_BURST);
		buf_addf(&one->place, "%zu-", i);
		fs_safe_name(&one->place, one->name, 64);
		if (one->why.text[0] || mkdirat(hostsfd, one->place.data, 0700))
			continue;
		CLEANUP(cleanup_fd) int dir = openat(hostsfd, one->place.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		one->is_fetched = dir >= 0 && !hostlink_fetch(one->link, dir);
		if (!one->is_fetched)
			one->why = one->link->why;
	}
	return hosts_write(h, err);
}

int record_hosts(const struct record_hosts *o, int *status, struct buf *path, struct sonde_err *err)
{
	struct hosts h = { .o = o, .run = STORE_RUN_INIT, .count = o->count };
	h.all = calloc(o->count, sizeof(*h.all));
	if (!h.all)
		return err_sys(err, ENOMEM, "cannot record hosts");
	/* Signals are forwarded to the programs on the hosts. */
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, &h.old_mask);
	h.signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < o->count; i++)
		h.all[i] = (struct host){ .name = o->names[i], .place = BUF_INIT };
	int rc = record_all(&h, err);
	*status = 0;
	for (size_t i = 0; i < h.count; i++) {
		if (!*status)
			*status = exit_code(h.all[i].status);
		if (h.all[i].link)
			hostlink_close(h.all[i].link);
		free(h.all[i].link);
		buf_release(&h.all[i].place);
	}
	sigprocmask(SIG_SETMASK, &h.old_mask, NULL);
	close(h.signals);
	if (!rc) {
		buf_adds(path, h.run.path);
		rc = hosts_join(h.run.path, err);
	}
	store_run_release(&h.run);
	free(h.all);
	return rc;
}

/* The ptrace process: its main loop, start and end; see ptrace-process.h. */
#include "probe/syscall/ptrace-process.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "launch/spawn-command.h"
#include "probe/probe.h"
#include "probe/syscall/bpf-calls.h"
#include "probe/syscall/exec-image.h"
#include "probe/syscall/ptrace-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define OPTIONS \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)
#define PIPE_BYTES (1 << 20)

static volatile sig_atomic_t is_over;

static void on_end(int signal)
{
	if (signal == SIGALRM)
		flush_is_due = 1;
	else
		is_over = 1;
}

/* Tracees. */

static struct tracee **place_of(struct watch *w, pid_t tid)
{
	struct tracee **at = &w->slots[(unsigned)tid % WATCH_SLOTS];
	while (*at && (*at)->tid != tid)
		at = &(*at)->next;
	return at;
}

static struct tracee *get(struct watch *w, pid_t tid)
{
	struct tracee **at = place_of(w, tid);
	if (!*at && (*at = calloc(1, sizeof(**at)))) {
		(*at)->tid = (*at)->pid = tid;
		(*at)->texts.size = -1;
		w->count++;
	}
	return *at;
}

static void drop(struct watch *w, pid_t tid)
{
	struct tracee **at = place_of(w, tid), *k = *at;
	if (!k)
		return;
	*at = k->next;
	texts_release(&k->texts);
	free(k);
	w->count--;
}

static pid_t pid_of(pid_t tid)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[48];
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	const char *at = fs_read_file(AT_FDCWD, path, 8192, &text, NULL) ? NULL : strstr(text.data, "\nTgid:");
	return at ? (pid_t)strtol(at + 6, NULL, 10) : tid;
}

/* A user other than root must see the exec of a setuid program in advance, even in processes with libsonde. */
static bool needs_stops(const struct watch *w, const struct tracee *k)
{
	if (!w->is_privileged)
		return true;
	return k->is_seen && w->o->seen < 0 && (!w->o->is_by_points || k->has_ring);
}

/*
 * Sets whether its calls are wanted, before it is resumed. If the kernel records them,
 * the recorder must also know the process before its first call.
 */
static void want(struct watch *w, struct tracee *k, bool is_wanted)
{
	if (k->is_seen && !is_wanted)
		send_kind(w, SYSCALL_LEAVE, k->pid);
	k->is_seen = is_wanted;
	k->is_stopped_at = needs_stops(w, k);
	if (w->o->seen >= 0)
		kernel_calls_want(w->o->seen, k->pid, is_wanted && !k->is_foreign);
	if (w->o->seen >= 0 || w->o->is_by_points)
		flush_events(w);
}

/* Stops. */

static void resume(const struct tracee *k, int signal)
{
	ptrace(k->is_stopped_at ? PTRACE_SYSCALL : PTRACE_CONT, k->tid, NULL, (void *)(intptr_t)signal);
}

/* A setuid program, or one with file capabilities, loses its privileges if an ordinary user traces its exec. */
static bool has_rights(pid_t tid, int dirfd, const char *path)
{
	char whole[SYSCALL_TEXT_MAX + 64], value[64];
	struct stat st;
	if (*path == '/' || dirfd == AT_FDCWD)
		snprintf(whole, sizeof(whole), "/proc/%d/%s%s", (int)tid, *path == '/' ? "root" : "cwd/", path);
	else
		snprintf(whole, sizeof(whole), "/proc/%d/fd/%d%s%s", (int)tid, dirfd, *path ? "/" : "", path);
	return (!stat(whole, &st) && st.st_mode & (S_ISUID | S_ISGID)) ||
			getxattr(whole, "security.capability", value, sizeof(value)) > 0;
}

/* Numbers of execve and execveat. */
static const struct {
	uint32_t arch;
	int64_t exec, exec_at;
} execs[] = { { AUDIT_ARCH_X86_64, SYS_execve, SYS_execveat }, { AUDIT_ARCH_I386, 11, 358 } };

static bool must_let_go(struct watch *w, struct tracee *k, uint32_t arch)
{
	bool is_exec = false, is_at = false;
	for (size_t i = 0; i < sizeof(execs) / sizeof(*execs); i++) {
		is_at |= execs[i].arch == arch && execs[i].exec_at == k->number;
		is_exec |= is_at || (execs[i].arch == arch && execs[i].exec == k->number);
	}
	if (!is_exec || w->is_privileged)
		return false;
	char path[SYSCALL_TEXT_MAX];
	size_t n = texts_peek(k->tid, k->args[is_at], path, sizeof(path) - 1);
	path[n] = '\0';
	return n && has_rights(k->tid, is_at ? (int)k->args[0] : AT_FDCWD, path);
}

/* Returns false if it was detached. */
static bool on_entry(struct watch *w, struct tracee *k, const struct __ptrace_syscall_info *info)
{
	int64_t number = (int64_t)info->entry.nr;
	if (number == SYS_restart_syscall && info->arch == AUDIT_ARCH_X86_64 &&
			k->row) { /* continues the previous call */
		k->is_inside = true;
		k->ts_ns = clock_mono_ns();
		return true;
	}
	k->is_inside = true;
	k->number = number;
	memcpy(k->args, info->entry.args, sizeof(k->args));
	if (must_let_go(w, k, info->arch)) {
		ptrace(PTRACE_DETACH, k->tid, NULL, NULL);
		drop(w, k->tid);
		return false;
	}
	k->row = k->is_seen && info->arch == AUDIT_ARCH_X86_64 ? syscall_row_of(number, k->args, false) : NULL;
	if (k->row)
		texts_of_call(&k->texts, k->tid, &syscall_rows[number], k->args);
	k->ts_ns = k->row ? clock_mono_ns() : 0;
	return true;
}

static void on_call(struct watch *w, struct tracee *k)
{
	struct __ptrace_syscall_info info;
	long n = ptrace(PTRACE_GET_SYSCALL_INFO, k->tid, sizeof(info), &info);
	if (n > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY && !on_entry(w, k, &info))
		return;
	if (n > 0 && info.op == PTRACE_SYSCALL_INFO_EXIT) {
		int64_t ret = info.exit.rval, now_ns = k->row ? clock_mono_ns() : 0;
		if (k->is_inside) {
			k->is_inside = false;
			if (k->row && !k->is_muted)
				send_call(w, k, ret, now_ns);
		}
	}
	resume(k, 0);
}

static void on_fork(struct watch *w, struct tracee *parent)
{
	unsigned long made = 0;
	ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &made);
	struct tracee *k = get(w, (pid_t)made);
	if (k) {
		bool was_waiting = k->is_reported == false && k->is_inside;
		k->pid = pid_of(k->tid);
		k->is_reported = true;
		k->is_inside = false;
		k->has_ring = parent->has_ring;
		k->is_foreign = parent->is_foreign;
		if (k->pid != parent->pid && parent->is_seen) {
			struct syscall_event e = { .kind = SYSCALL_FORK,
				.pid = k->pid,
				.tid = k->tid,
				.parent = parent->pid,
				.has_ring = parent->has_ring,
				.is_foreign = parent->is_foreign,
				.ts_ns = clock_mono_ns() };
			send_event(w, &e, NULL);
		}
		/*
		 * Threads usually share descriptors and processes do not. If it is otherwise, the files of descriptors
		 * are unknown.
		 */
		long differs = parent->is_seen ? syscall(SYS_kcmp, parent->tid, k->tid, KCMP_FILES, 0, 0) : -1;
		if (differs >= 0 && !differs != (parent->pid == k->pid)) {
			send_kind(w, SYSCALL_FORGET, parent->pid);
			send_kind(w, SYSCALL_FORGET, k->pid);
		}
		want(w, k, parent->is_seen);
		if (was_waiting)
			resume(k, 0);
	}
	resume(parent, 0);
}

/* The thread that called exec is now the main thread; the others are gone. */
static void on_exec(struct watch *w, struct tracee *k)
{
	unsigned long former = 0;
	ptrace(PTRACE_GETEVENTMSG, k->tid, NULL, &former);
	if ((pid_t)former != k->tid)
		drop(w, (pid_t)former);
	k->pid = k->tid;
	k->is_inside = false;
	k->row = NULL;
	enum image_kind kind = w->o->has_tracer ? image_kind_of(k->pid) : IMAGE_UNSEEN;
	k->is_muted = false;
	k->has_ring = kind == IMAGE_GO;
	k->is_foreign = image_is_foreign(k->pid);
	if (kind != IMAGE_TRACED)
		send_start(w, k, k->has_ring);
	want(w, k, kind != IMAGE_TRACED);
	resume(k, 0);
}

static void on_event(struct watch *w, struct tracee *k, int event, int signal)
{
	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE)
		on_fork(w, k);
	else if (event == PTRACE_EVENT_EXEC)
		on_exec(w, k);
	else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
		ptrace(PTRACE_LISTEN, k->tid, NULL, NULL); /* group-stop: stays stopped until SIGCONT */
	else if (event == PTRACE_EVENT_STOP && !k->is_reported)
		k->is_inside = true; /* a new child, before the fork event of its parent: it waits for that */
	else
		resume(k, 0);
}

static void on_stop(struct watch *w, pid_t tid, int status)
{
	struct tracee *k = get(w, tid);
	int event = status >> 16, signal = WSTOPSIG(status);
	if (!k)
		ptrace(PTRACE_DETACH, tid, NULL, NULL); /* out of memory: it continues untraced */
	else if (event)
		on_event(w, k, event, signal);
	else if (signal == (SIGTRAP | 0x80))
		on_call(w, k);
	else
		resume(k, signal);
}

static void on_death(struct watch *w, pid_t tid, int status)
{
	const struct tracee *k = *place_of(w, tid);
	if (k && k->pid == tid && k->is_seen && !k->is_muted) {
		struct syscall_event e = { .kind = SYSCALL_END,
			.pid = tid,
			.tid = tid,
			.ret = status,
			.ts_ns = clock_mono_ns() };
		send_event(w, &e, NULL);
		if (w->o->seen >= 0)
			kernel_calls_want(w->o->seen, tid, false);
	}
	drop(w, tid);
}

/* Attaching. */

static int attach_one(struct watch *w, pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(intptr_t)OPTIONS))
		return errno;
	struct tracee *k = get(w, tid);
	if (!k)
		return ENOMEM;
	k->pid = w->o->target;
	k->is_reported = true;
	/* A command is muted until its exec; if that may be a setuid program, its call must be seen in advance. */
	k->is_muted = !w->o->is_running;
	k->is_seen = w->o->is_running || !w->is_privileged;
	k->is_stopped_at = needs_stops(w, k);
	if (k->is_stopped_at)
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 0;
}

static int attach(struct watch *w)
{
	char path[48];
	int error = attach_one(w, w->o->target);
	if (error || !w->o->is_running)
		return error;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)w->o->target);
	CLEANUP(cleanup_dir) DIR *dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		if (tid > 0 && !*place_of(w, tid))
			attach_one(w, tid);
	}
	struct tracee *first = *place_of(w, w->o->target);
	if (first) {
		first->is_foreign = image_is_foreign(first->pid);
		send_start(w, first, false);
		want(w, first, true);
	}
	return 0;
}

/* Attaches, writes the result as one byte, and writes events to `to` until no tracee is left or SIGTERM arrives. */
static void watch(int to, const struct watcher_options *o)
{
	struct watch w = { .o = o, .to = to, .is_privileged = geteuid() == 0, .out = BUF_INIT };
	struct sigaction end = { .sa_handler = on_end }; /* without SA_RESTART: it interrupts the wait */
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGALRM, &end, NULL);
	/* The first byte is the result; events of the attachment follow it. */
	unsigned char error = 0;
	buf_add(&w.out, &error, 1);
	error = (unsigned char)attach(&w);
	if (error) {
		fs_write_all(to, &error, 1);
		return;
	}
	flush_events(&w);
	while (w.count && !is_over && !w.is_deaf) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL | (flush_is_due ? WNOHANG : 0));
		if (flush_is_due)
			flush_events(&w);
		if (tid < 0 && errno != EINTR)
			break;
		else if (tid > 0 && WIFSTOPPED(status))
			on_stop(&w, tid, status);
		else if (tid > 0)
			on_death(&w, tid, status);
	}
	flush_events(&w);
}

/* In the child: detaches from the terminal, and exits with its parent. */
static void live_apart(pid_t parent)
{
	struct sigaction plain = { .sa_handler = SIG_DFL }, ignored = { .sa_handler = SIG_IGN };
	sigset_t none;
	sigemptyset(&none);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "sonde-watcher");
	sigaction(SIGCHLD, &plain, NULL);
	sigaction(SIGPIPE, &ignored, NULL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() != parent)
		_exit(1);
}

/* Closes the program's files: they must not stay open here. */
static void close_others(int to, int *seen)
{
	int high = fcntl(to, F_DUPFD, 64), map = *seen >= 0 ? fcntl(*seen, F_DUPFD, 64) : -1;
	dup2(high, 3);
	if (map >= 0)
		*seen = dup2(map, 4);
	close_range(map >= 0 ? 5 : 4, ~0u, 0);
	for (int fd = 0; fd < 3; fd++) {
		close(fd);
		open("/dev/null", O_RDWR);
	}
}

/* Reads the first byte, the result of attaching: 0, or an errno. */
static int await_start(const struct watcher *w, struct sonde_err *err)
{
	unsigned char error = 0;
	ssize_t n;
	do
		n = read(w->fd, &error, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1 && !error)
		return 0;
	error = n == 1 ? error : EIO;
	err_sys(err, error, "cannot watch system calls by ptrace");
	if (error == EPERM || error == EACCES)
		err_hint(err,
				"another program traces it, or kernel.yama.ptrace_scope is above 0; in a container: "
				"--cap-add SYS_PTRACE");
	return -error;
}

int watcher_start(struct watcher *w, const struct watcher_options *o, struct sonde_err *err)
{
	int ends[2];
	pid_t parent = getpid();
	*w = (struct watcher){ .fd = -1 };
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "cannot watch system calls");
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
	w->pid = fork();
	if (!w->pid) {
		struct watcher_options own = *o;
		live_apart(parent);
		close_others(ends[1], &own.seen);
		watch(3, &own);
		_exit(0);
	}
	close(ends[1]);
	w->fd = ends[0];
	int rc = w->pid < 0 ? err_sys(err, errno, "cannot watch system calls") : await_start(w, err);
	if (rc)
		watcher_release(w);
	else
		fcntl(w->fd, F_SETFL, O_NONBLOCK);
	return rc;
}

void watcher_stop(struct watcher *w)
{
	if (w->pid > 0)
		kill(w->pid, SIGTERM);
	fcntl(w->fd, F_SETFL, 0);
}

void watcher_release(struct watcher *w)
{
	if (w->pid > 0) {
		kill(w->pid, SIGKILL);
		launch_reap(w->pid);
	}
	if (w->fd >= 0)
		close(w->fd);
	*w = (struct watcher){ .fd = -1 };
}

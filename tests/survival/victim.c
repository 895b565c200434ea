/*
 * A program that writes and then ends in one of many ways.
 *
 *   victim CASE FILE
 *
 * Each burst is `n` writes of one byte to FILE, announced on stdout as "PID N":
 * what a trace must contain, whatever happens afterwards. The sum a pid announces
 * is the number of writes to FILE that must stand under that pid.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static char *file;
static char *self;

static int open_file(void)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0666);
	if (fd < 0) {
		perror(file);
		exit(99);
	}
	return fd;
}

static void announce(int n)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%d %d\n", (int)getpid(), n);
	if (write(STDOUT_FILENO, line, (size_t)len) != len)
		_exit(98);
}

static void put(int fd, int n)
{
	for (int i = 0; i < n; i++)
		if (write(fd, "x", 1) != 1)
			_exit(97);
}

static void burst(int n)
{
	int fd = open_file();
	announce(n);
	put(fd, n);
	close(fd);
}

static void reap(pid_t pid)
{
	int status;
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		_exit(96);
}

static char *more_argv[4];

static char **more(void) /* the arguments of a second victim that writes five times */
{
	static char five[] = "five";
	more_argv[0] = self;
	more_argv[1] = five;
	more_argv[2] = file;
	return more_argv;
}

/* Ends. */
static void end_return(void) {}
static void end_exit(void)
{
	exit(3);
}
static void end__exit(void)
{
	_exit(4);
}
static void end_exit_group(void)
{
	syscall(SYS_exit_group, 5);
}
static void end_kill(void)
{
	kill(getpid(), SIGKILL);
}
static void end_abort(void)
{
	abort();
}
static void end_segv(void)
{
	*(volatile int *)8 = 1;
}
static void end_term(void)
{
	kill(getpid(), SIGTERM);
	pause();
}

/* Other programs. */
static void go_execv(void)
{
	execv(self, more());
}
static void go_execve(void)
{
	execve(self, more(), environ);
}
static void go_execvp(void)
{
	execvp(self, more());
}
static void go_execl(void)
{
	execl(self, self, "five", file, (char *)NULL);
}
static void go_execlp(void)
{
	execlp(self, self, "five", file, (char *)NULL);
}
static void go_execle(void)
{
	execle(self, self, "five", file, (char *)NULL, environ);
}
static void go_exec_bare(void)
{
	char *nothing[] = { NULL };
	execve(self, more(), nothing);
}
static void go_exec_fails(void)
{
	if (execl("/nonexistent/program", "x", (char *)NULL) == -1 && errno == ENOENT)
		burst(5);
}
static void go_posix_spawn(void)
{
	pid_t pid;
	if (posix_spawn(&pid, self, NULL, NULL, more(), environ))
		_exit(95);
	reap(pid);
}
static void go_system(void)
{
	char line[8192];
	snprintf(line, sizeof(line), "'%s' five '%s'", self, file);
	if (system(line))
		_exit(95);
}
static void go_popen(void)
{
	char line[8192], answer[256];
	snprintf(line, sizeof(line), "'%s' five '%s'", self, file);
	FILE *f = popen(line, "r");
	while (f && fgets(answer, sizeof(answer), f))
		fputs(answer, stdout);
	fflush(stdout);
	if (!f || pclose(f))
		_exit(95);
}
static void go_vfork(void)
{
	pid_t pid = vfork();
	if (!pid) {
		execv(self, more());
		_exit(94);
	}
	reap(pid);
}
static void go_vfork_write(void)
{
	int fd = open_file();
	pid_t pid = vfork();
	if (!pid) {
		announce(5);
		put(fd, 5);
		_exit(0);
	}
	reap(pid);
	burst(5);
}

/* Children. */
static void child(int how)
{
	pid_t pid = fork();
	if (!pid) {
		burst(10);
		if (how == 1)
			_exit(0);
		if (how == 2)
			kill(getpid(), SIGKILL);
		exit(0);
	}
	reap(pid);
}
static void go_fork_exit(void)
{
	child(0);
}
static void go_fork__exit(void)
{
	child(1);
}
static void go_fork_kill(void)
{
	child(2);
}
static void go_fork_raw(void)
{
	pid_t pid = (pid_t)syscall(SYS_fork);
	if (!pid) {
		burst(10);
		syscall(SYS_exit_group, 0);
	}
	reap(pid);
}
static void go_fork_deep(void)
{
	for (int i = 0; i < 5; i++) {
		pid_t pid = fork();
		if (pid) {
			reap(pid);
			_exit(0);
		}
		burst(3);
	}
}

/* Threads. */
static void *thread_burst(void *n)
{
	int fd = open_file();
	put(fd, *(int *)n);
	close(fd);
	return NULL;
}
static void threads(int count, int each, int at_once)
{
	pthread_t t[1024];
	announce(count * each);
	for (int done = 0; done < count; done += at_once) {
		for (int i = 0; i < at_once; i++)
			if (pthread_create(&t[i], NULL, thread_burst, &each))
				_exit(93);
		for (int i = 0; i < at_once; i++)
			pthread_join(t[i], NULL);
	}
}
static void go_threads(void)
{
	threads(4, 1000, 4);
}
static void go_many_threads(void)
{
	threads(1000, 3, 1000);
}
static void go_short_threads(void)
{
	threads(3000, 2, 4);
}

/* Things that programs do to the ground under us. */
static void go_close_range(void)
{
	close_range(3, ~0u, 0);
	burst(5);
}
static void go_close_all(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	burst(5);
}
static void go_clearenv(void)
{
	clearenv();
	burst(5);
	go_posix_spawn();
}
static void go_chroot(void)
{
	int fd = open_file();
	if (chroot("/var/empty") && chroot("/srv") && chroot("/mnt"))
		return; /* not root: nothing to see */
	announce(5);
	put(fd, 5);
	pid_t pid = fork();
	if (!pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(0);
	}
	reap(pid);
}
static void go_setuid(void)
{
	int fd = open_file();
	if (setgid(65534) || setuid(65534))
		return;
	announce(2000);
	put(fd, 2000);
}
static void go_seccomp(void)
{
	struct sock_filter allow[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(allow) / sizeof(*allow), .filter = allow };
	int fd = open_file();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(92);
	announce(3000);
	put(fd, 3000);
	syscall(SYS_exit_group, 0);
}

static void go_seccomp_strict(void)
{
	int fd = open_file();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		_exit(92);
	put(fd, 0); /* from here on nobody may read the time: what is written cannot be dated */
	syscall(SYS_exit, 0);
}
static void go_no_tsc(void)
{
	burst(5);
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		_exit(92);
	pid_t pid = fork();
	if (!pid)
		_exit(0);
	int status;
	waitpid(pid, &status, 0);
}

static sigjmp_buf back;
static int handler_fd;
static volatile int handled;
static void on_alarm_io(int s)
{
	put(handler_fd, 1);
	handled++;
}
static void on_alarm_jump(int s)
{
	siglongjmp(back, 1);
}
static void ring_often(void (*handler)(int))
{
	struct sigaction a = { .sa_handler = handler };
	struct itimerspec often = { .it_interval.tv_nsec = 50000, .it_value.tv_nsec = 50000 };
	timer_t timer;
	sigaction(SIGALRM, &a, NULL);
	if (timer_create(CLOCK_MONOTONIC, NULL, &timer) || timer_settime(timer, 0, &often, NULL))
		_exit(91);
}
static void quiet(void)
{
	signal(SIGALRM, SIG_IGN);
}
static void go_handler_io(void)
{
	int fd = open_file();
	handler_fd = fd;
	ring_often(on_alarm_io);
	put(fd, 200000);
	quiet();
	announce(200000 + handled);
}
static void go_handler_jump(void)
{
	int fd = open_file(), pipes[2];
	volatile int n = 0;
	char c;
	if (pipe(pipes))
		_exit(90);
	for (volatile int i = 0; i < 200; i++) {
		if (!sigsetjmp(back, 1)) {
			if (i == 0)
				ring_often(on_alarm_jump);
			if (read(pipes[0], &c, 1)) /* blocks until the jump */
				_exit(90);
		}
		sigset_t set, old;
		sigfillset(&set);
		sigprocmask(SIG_BLOCK, &set, &old);
		put(fd, 3);
		n += 3;
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
	quiet();
	announce(n);
}
/*
 * A debugger lets a write run for one instruction, for two, for three ... and then has a handler fill more than a
 * chunk, and wait until that was read.
 */
#define STEPS 500
static void on_user_fill(int s)
{
	put(handler_fd, 520);
	handled++;
	usleep(2000);
}
static void be_stepped(void)
{
	signal(SIGUSR1, on_user_fill);
	handler_fd = open_file();
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	for (int i = 0; i < STEPS; i++) {
		raise(SIGSTOP);
		put(handler_fd, 1);
	}
	signal(SIGUSR1, SIG_IGN);
	announce(STEPS + 520 * handled);
	_exit(0);
}
static void go_stepped(void)
{
	pid_t pid = fork();
	int status;
	if (!pid)
		be_stepped();
	for (int steps = 0; waitpid(pid, &status, 0) == pid && WIFSTOPPED(status); steps++) {
		for (int i = 0; i < steps && WIFSTOPPED(status); i++)
			if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) || waitpid(pid, &status, 0) != pid)
				_exit(95);
		if (ptrace(PTRACE_CONT, pid, 0, SIGUSR1))
			_exit(95);
	}
}
static void go_dlopen(void)
{
	for (int i = 0; i < 3; i++) {
		void *h = dlopen("libm.so.6", RTLD_NOW);
		if (!h || !dlsym(h, "cos"))
			_exit(89);
		dlclose(h);
		burst(2);
	}
}
static void go_many_processes(void)
{
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();
		if (!pid) {
			burst(1);
			_exit(0);
		}
		reap(pid);
	}
}
static void go_flood(void)
{
	int fd = open_file();
	announce(300000);
	put(fd, 300000);
}

static const struct {
	const char *name;
	void (*go)(void);
	int before;
} cases[] = {
	{ "return", end_return, 10 },
	{ "exit", end_exit, 10 },
	{ "_exit", end__exit, 10 },
	{ "exit_group", end_exit_group, 10 },
	{ "kill", end_kill, 10 },
	{ "abort", end_abort, 10 },
	{ "segv", end_segv, 10 },
	{ "term", end_term, 10 },
	{ "execv", go_execv, 10 },
	{ "execve", go_execve, 10 },
	{ "execvp", go_execvp, 10 },
	{ "execl", go_execl, 10 },
	{ "execlp", go_execlp, 10 },
	{ "execle", go_execle, 10 },
	{ "exec-empty-env", go_exec_bare, 10 },
	{ "exec-fails", go_exec_fails, 10 },
	{ "posix_spawn", go_posix_spawn, 10 },
	{ "system", go_system, 10 },
	{ "popen", go_popen, 10 },
	{ "vfork-exec", go_vfork, 10 },
	{ "vfork-write", go_vfork_write, 10 },
	{ "fork-exit", go_fork_exit, 10 },
	{ "fork-_exit", go_fork__exit, 10 },
	{ "fork-kill", go_fork_kill, 10 },
	{ "fork-raw", go_fork_raw, 10 },
	{ "fork-deep", go_fork_deep, 10 },
	{ "threads", go_threads, 0 },
	{ "many-threads", go_many_threads, 0 },
	{ "short-threads", go_short_threads, 0 },
	{ "close_range", go_close_range, 10 },
	{ "close-all", go_close_all, 10 },
	{ "clearenv", go_clearenv, 10 },
	{ "chroot", go_chroot, 10 },
	{ "setuid", go_setuid, 10 },
	{ "seccomp", go_seccomp, 10 },
	{ "seccomp-strict", go_seccomp_strict, 10 },
	{ "no-tsc", go_no_tsc, 10 },
	{ "handler-io", go_handler_io, 0 },
	{ "stepped", go_stepped, 0 },
	{ "handler-jump", go_handler_jump, 0 },
	{ "dlopen", go_dlopen, 10 },
	{ "many-processes", go_many_processes, 0 },
	{ "flood", go_flood, 0 },
	{ "five", end_return, 5 },
};

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "list")) {
		for (size_t i = 0; i + 1 < sizeof(cases) / sizeof(*cases); i++)
			puts(cases[i].name);
		return 0;
	}
	if (argc != 3)
		return 2;
	self = argv[0];
	file = argv[2];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			if (cases[i].before)
				burst(cases[i].before);
			cases[i].go();
			return 0;
		}
	return 2;
}

/*
 * A program that would notice if somebody stood between it and the kernel: it prints what happened to it, and the
 * lines must be the same whether it is watched or not.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t seen[65];

static void on_signal(int signal)
{
	seen[signal]++;
}

static void say_status(const char *what, int status)
{
	if (WIFEXITED(status))
		printf("%s: exited %d\n", what, WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		printf("%s: killed by %d\n", what, WTERMSIG(status));
	else if (WIFSTOPPED(status))
		printf("%s: stopped by %d\n", what, WSTOPSIG(status));
	else
		printf("%s: continued\n", what);
	fflush(stdout);
}

static void handle(int signal, int flags)
{
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = flags };
	sigaction(signal, &a, NULL);
}

static void signals(void)
{
	handle(SIGUSR1, 0);
	handle(SIGTRAP, 0);
	handle(SIGSYS, 0);
	kill(getpid(), SIGUSR1);
	raise(SIGUSR1);
	raise(SIGTRAP);
	raise(SIGSYS);
	printf("signals: %d %d %d\n", seen[SIGUSR1], seen[SIGTRAP], seen[SIGSYS]);
}

/* A read that a signal interrupts, without and with SA_RESTART. */
static void interruptions(void)
{
	struct itimerspec once = { .it_value = { .tv_nsec = 20000000 } };
	struct sigevent by = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	timer_t timer;
	char byte;
	int ends[2];
	if (pipe(ends) || timer_create(CLOCK_MONOTONIC, &by, &timer))
		exit(1);
	handle(SIGUSR2, 0);
	timer_settime(timer, 0, &once, NULL);
	ssize_t n = read(ends[0], &byte, 1);
	printf("interrupted: %d %d, %d signals\n", (int)n, errno == EINTR, seen[SIGUSR2]);
	fflush(stdout);
	handle(SIGUSR2, SA_RESTART);
	timer_settime(timer, 0, &once, NULL);
	if (!fork()) {
		usleep(60000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	n = read(ends[0], &byte, 1);
	wait(NULL);
	printf("restarted: %d, %d signals\n", (int)n, seen[SIGUSR2]);
	struct timespec wait_ns = { .tv_nsec = 40000000 };
	timer_settime(timer, 0, &once, NULL);
	printf("sleep: %d\n", clock_nanosleep(CLOCK_MONOTONIC, 0, &wait_ns, NULL));
}

/* A byte of the pipe follows each continuation: a child that stops anew sooner would undo what its parent waits for. */
static void stops(void)
{
	int status, ends[2];
	char byte;
	pid_t child = pipe(ends) ? -1 : fork();
	if (!child) {
		setpgid(0, 0); /* in a group that is orphaned, as ours may be, SIGTSTP stops nobody */
		for (int i = 0; i < 2; i++) {
			raise(SIGSTOP);
			if (read(ends[0], &byte, 1) != 1)
				_exit(6);
		}
		_exit(5);
	}
	for (int i = 0; i < 2; i++) {
		waitpid(child, &status, WUNTRACED);
		say_status("stop", status);
		kill(child, SIGCONT);
		waitpid(child, &status, WCONTINUED);
		say_status("cont", status);
		if (write(ends[1], "x", 1) != 1)
			exit(1);
	}
	waitpid(child, &status, 0);
	say_status("stopper", status);
	child = fork();
	if (!child)
		for (;;)
			pause();
	kill(child, SIGSTOP);
	waitpid(child, &status, WUNTRACED);
	say_status("stop", status);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	say_status("stopped one", status);
}

static void deaths(void)
{
	static const int how[] = { SIGKILL, SIGTERM, SIGSEGV, SIGABRT };
	int status;
	for (unsigned i = 0; i < sizeof(how) / sizeof(*how); i++) {
		pid_t child = fork();
		if (!child) {
			signal(how[i], SIG_DFL);
			raise(how[i]);
			_exit(1);
		}
		waitpid(child, &status, 0);
		say_status("death", status);
	}
}

static void *run_away(void *argument)
{
	char *const *argv = argument;
	usleep(20000);
	execv(argv[0], argv);
	_exit(9);
}

static void *idle(void *argument)
{
	(void)argument;
	for (;;)
		pause();
	return NULL;
}

/* A thread that is not the first executes another program; vfork; a child whose parent ends first. */
static void programs(char *self)
{
	char word[] = "code", number[] = "23";
	char *argv[] = { self, word, number, NULL };
	int status;
	pid_t child = fork();
	if (!child) {
		pthread_t a, b;
		pthread_create(&a, NULL, idle, NULL);
		pthread_create(&b, NULL, run_away, argv);
		pthread_join(a, NULL);
	}
	waitpid(child, &status, 0);
	say_status("exec of a thread", status);
	child = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork): it is what is tested
	if (!child) {
		execv(argv[0], argv);
		_exit(9);
	}
	waitpid(child, &status, 0);
	say_status("vfork", status);
	child = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork)
	if (!child) {
		execv("/nonexistent", argv);
		_exit(11);
	}
	waitpid(child, &status, 0);
	say_status("failed exec", status);
}

static void *add(void *argument)
{
	int *sum = argument;
	for (int i = 0; i < 200; i++) {
		__atomic_add_fetch(sum, 1, __ATOMIC_RELAXED);
		close(-1);
	}
	return NULL;
}

static void threads(void)
{
	int sum = 0;
	pthread_t all[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&all[i], NULL, add, &sum);
	for (int i = 0; i < 8; i++)
		pthread_join(all[i], NULL);
	printf("threads: %d\n", sum);
	pid_t child = fork();
	if (!child) {
		pthread_create(&all[0], NULL, idle, NULL);
		exit(4);
	}
	int status;
	waitpid(child, &status, 0);
	say_status("exit with a thread", status);
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return (int)strtol(argv[2], NULL, 10);
	signals();
	interruptions();
	stops();
	deaths();
	programs(argv[0]);
	threads();
	fflush(stdout);
	handle(SIGTERM, SA_RESETHAND);
	raise(SIGTERM);
	raise(SIGTERM); /* dies of it */
	return 0;
}

/* acts: a program with many parts, which jobs of the tests run. */
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The worst that a job can hold: forked twice, a session of its own, deaf to INT and TERM. It prints its pid. */
static int be_daemon(void)
{
	if (fork())
		_exit(0);
	setsid();
	if (fork())
		_exit(0);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	dprintf(1, "%d\n", (int)getpid());
	close(1);
	for (;;)
		pause();
}

/* Children that each fork the next and go: the pid changes all the time. */
static int be_runner(void)
{
	dprintf(1, "%d\n", (int)getpid());
	for (;;)
		if (fork() > 0)
			_exit(0);
}

#define BURN_NS 100000000

static int burn(void)
{
	while (clock_cpu_ns() < BURN_NS)
		;
	return 0;
}

static void on_usr1(int signal)
{
	(void)signal;
	ssize_t n = write(1, "once\n", 5);
	(void)n;
}

/* Three: the command, its child in another session, and an orphan. */
static int be_counting(void)
{
	signal(SIGUSR1, on_usr1);
	if (!fork())
		setsid();
	else if (!fork())
		if (fork())
			_exit(0);
	dprintf(1, "ready\n");
	for (;;)
		pause();
}

static int list_descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			dprintf(1, "%d\n", fd);
	return 0;
}

static int grow(void)
{
	volatile char *bytes = malloc(200 << 20);
	for (size_t i = 0; i < 200 << 20; i += 4096)
		bytes[i] = 1;
	return bytes[4096] != 1;
}

/* Short children, each with a little work; the last word is what all of them used by their own account. */
static int be_many(void)
{
	int64_t total_ns = 0;
	int ends[2];
	if (pipe(ends))
		return 1;
	for (int i = 0; i < 1000; i++) {
		if (!fork()) {
			while (clock_cpu_ns() < 1000000)
				;
			int64_t own_ns = clock_cpu_ns();
			_exit(write(ends[1], &own_ns, sizeof(own_ns)) != sizeof(own_ns));
		}
		int64_t own_ns = 0;
		wait(NULL);
		if (read(ends[0], &own_ns, sizeof(own_ns)) != sizeof(own_ns))
			return 1;
		total_ns += own_ns;
	}
	dprintf(1, "%lld\n", (long long)(total_ns + clock_cpu_ns()));
	return 0;
}

/* More processes than it may have: prints how many it got. */
static int be_bomb(void)
{
	int n = 0;
	for (; n < 200; n++) {
		pid_t pid = fork();
		if (!pid)
			for (;;)
				pause();
		if (pid < 0)
			break;
	}
	dprintf(1, "%d\n", n);
	return 0;
}

/* The same, with a command that stays and is as deaf. */
static int be_daemon_and_wait(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	if (!fork())
		return be_daemon();
	close(1);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*be)(void);
	} parts[] = { { "daemon", be_daemon }, { "daemon-and-wait", be_daemon_and_wait }, { "runner", be_runner },
		{ "counts", be_counting }, { "grow", grow }, { "burn", burn }, { "descriptors", list_descriptors },
		{ "many", be_many }, { "bomb", be_bomb } };
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (argc > 1 && !strcmp(argv[1], parts[i].name))
			return parts[i].be();
	return 99;
}

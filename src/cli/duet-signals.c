/*
 * duet-signals: termination signals as a pollable descriptor. Uses handlers, not a blocked mask: children inherit
 * neither.
 */
#include "cli/duet-cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static int pipe_fds[2] = { -1, -1 };
static volatile sig_atomic_t caught;

static void note(int signal)
{
	int saved = errno;
	char byte = 0;

	if (!caught)
		caught = signal;
	if (write(pipe_fds[1], &byte, 1) < 0)
		errno = saved; /* pipe full: it is readable already */
	errno = saved;
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
static struct sigaction before[sizeof(signals) / sizeof(*signals)];

/* SIGHUP stays ignored under nohup. */
int duet_signals_open(struct sonde_err *err)
{
	struct sigaction action = { .sa_handler = note };

	caught = 0;
	if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK))
		return err_sys(err, errno, "cannot watch for interruptions");
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (signals[i] != SIGHUP || before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
	return pipe_fds[0];
}

int duet_signals_caught(void)
{
	return caught;
}

void duet_signals_close(void)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals) && pipe_fds[0] >= 0; i++)
		sigaction(signals[i], &before[i], NULL);
	for (size_t i = 0; i < 2; i++) {
		if (pipe_fds[i] >= 0)
			close(pipe_fds[i]);
		pipe_fds[i] = -1;
	}
}

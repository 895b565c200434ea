/* Servers: the listen address, and systemd. */
#include "cli/daemon.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct {
	void *arg;
	bool (*can_reload)(void *arg);
} reload;

/* Sends a datagram to $NOTIFY_SOCKET; a leading '@' means an abstract socket. */
static void notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t n = path ? strlen(path) : 0;
	int fd;

	if (n < 2 || n >= sizeof(to.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(to.sun_path, path, n);
	if (*path == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&to,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	close(fd);
}

void daemon_block(sigset_t *signals, void *arg, bool (*can_reload)(void *arg))
{
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigprocmask(SIG_BLOCK, signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	reload.arg = arg;
	reload.can_reload = can_reload;
}

void daemon_ready(void)
{
	notify("READY=1\nSTATUS=watching");
}

static int wait_for(const sigset_t *signals)
{
	const char *text = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	long long us = text ? strtoll(text, NULL, 10) : 0;
	bool is_watched = us > 0 && us <= 86400000000 && (!pid || strtol(pid, NULL, 10) == getpid());
	int64_t beat_ns = is_watched ? us * 500 : 0; /* half of the interval that systemd requires; 0: no watchdog */
	struct timespec wait = { beat_ns / 1000000000, beat_ns % 1000000000 };

	for (;;) {
		int signum = beat_ns ? sigtimedwait(signals, NULL, &wait) : sigwaitinfo(signals, NULL);

		if (signum > 0)
			return signum;
		if (errno == EAGAIN)
			notify("WATCHDOG=1");
	}
}

bool daemon_wait(const sigset_t *signals)
{
	char text[96];

	while (wait_for(signals) == SIGHUP && reload.can_reload) {
		snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)(clock_mono_ns() / 1000));
		notify(text);
		if (reload.can_reload(reload.arg))
			return true;
		notify("READY=1");
	}
	notify("STOPPING=1");
	return false;
}

int listen_parse(const char *text, struct arena *arena, const char **address, unsigned *port, struct sonde_err *err)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	char *end = NULL;
	unsigned long number = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!colon || colon[1] < '0' || colon[1] > '9' || *end || number > 65535)
		return err_set(err, EINVAL, "invalid address '%s': expected ADDRESS:PORT, such as 127.0.0.1:8080",
				text);
	if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	}
	*port = (unsigned)number;
	*address = n ? arena_copy(arena, text, n) : "127.0.0.1";
	return *address ? 0 : err_sys(err, ENOMEM, "cannot listen");
}

int listen_say(const char *address, unsigned port, bool is_json, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf url = BUF_INIT, text = BUF_INIT;
	struct json j;

	buf_addf(&url, strchr(address, ':') ? "http://[%s]:%u" : "http://%s:%u", address, port);
	if (is_json) {
		json_init(&j, &text, false);
		json_object(&j);
		json_kstr(&j, "url", url.data);
		json_end(&j);
	} else {
		buf_adds(&text, url.data);
	}
	printf("%s\n", text.data);
	return fflush(stdout) == 0 ? 0 : err_sys(err, errno, "cannot print the address");
}

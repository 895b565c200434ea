/*
 * The listening socket: an address and port, or a Unix socket that only its owner can open.
 */
#include "serve/http-server-private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 64

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_un file;
};

static int parse(const char *text, unsigned port, union address *a, socklen_t *bytes, struct sonde_err *err)
{
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &a->four.sin_addr) == 1) {
		a->four.sin_family = AF_INET;
		a->four.sin_port = htons((uint16_t)port);
		*bytes = sizeof(a->four);
		return 0;
	}
	if (inet_pton(AF_INET6, text, &a->six.sin6_addr) == 1) {
		a->six.sin6_family = AF_INET6;
		a->six.sin6_port = htons((uint16_t)port);
		*bytes = sizeof(a->six);
		return 0;
	}
	err_set(err, EINVAL, "invalid numeric address '%s'", text);
	err_hint(err, "127.0.0.1 is this machine alone, 0.0.0.0 every network it is in");
	return -EINVAL;
}

static int listen_tcp(struct http_server *g, struct sonde_err *err)
{
	const char *text = g->options.address ? g->options.address : "127.0.0.1";
	union address a;
	socklen_t bytes = 0;
	int one = 1, rc = parse(text, g->options.port, &a, &bytes, err);

	if (rc < 0)
		return rc;
	snprintf(g->address, sizeof(g->address), "%s", text);
	g->fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (g->fd < 0 || setsockopt(g->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
			bind(g->fd, &a.any, bytes) < 0 || listen(g->fd, BACKLOG) < 0 ||
			getsockname(g->fd, &a.any, &bytes) < 0) {
		rc = err_sys(err, errno, "cannot listen on %s port %u", text, g->options.port);
		err_hint(err, "--port 0 takes any port that is free");
		return rc;
	}
	g->port = ntohs(a.any.sa_family == AF_INET ? a.four.sin_port : a.six.sin6_port);
	return 0;
}

/* Removes a socket that no process listens on; any other file is left alone. */
static void remove_dead(const union address *a)
{
	struct stat st;
	int fd;

	if (lstat(a->file.sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, &a->any, sizeof(a->file)) < 0 && errno == ECONNREFUSED)
		unlink(a->file.sun_path);
	if (fd >= 0)
		close(fd);
}

static int listen_unix(struct http_server *g, struct sonde_err *err)
{
	const char *path = g->options.unix_path;
	union address a = { .file = { .sun_family = AF_UNIX } };
	mode_t mask;
	int rc;

	if (strlen(path) >= sizeof(a.file.sun_path))
		return err_set(err, ENAMETOOLONG, "the path of the socket '%s' is too long", path);
	memcpy(a.file.sun_path, path, strlen(path) + 1);
	remove_dead(&a);
	g->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177); /* no window in which other users could connect */
	rc = g->fd < 0 || bind(g->fd, &a.any, sizeof(a.file)) < 0 ? -errno : 0;
	umask(mask);
	if (rc == 0 && listen(g->fd, BACKLOG) < 0)
		rc = -errno;
	if (rc < 0)
		return err_sys(err, -rc, "cannot listen on '%s'", path);
	g->unix_path = strdup(path);
	return g->unix_path ? 0 : err_sys(err, ENOMEM, "cannot listen on '%s'", path);
}

int http_listen(struct http_server *g, struct sonde_err *err)
{
	return g->options.unix_path ? listen_unix(g, err) : listen_tcp(g, err);
}

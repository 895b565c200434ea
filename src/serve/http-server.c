/*
 * Requests arrive here from libmicrohttpd, are checked by their headers before any of their body is read, and are
 * dispatched to handlers.
 */
#include "base/cleanup.h"
#include "serve/http-server-private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * The listening socket: an address and port, or a Unix socket that only its owner can open.
 */

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

#define THREADS 4

static const struct http_endpoint *find_endpoint(const struct http_server *g, const char *method, const char *path,
		bool *has_path)
{
	bool is_head = strcmp(method, "HEAD") == 0;

	*has_path = false;
	for (const struct http_endpoint *e = g->options.endpoints; e->method; e++) {
		if (e->flags & HTTP_BELOW ? strncmp(e->path, path, strlen(e->path)) != 0 : strcmp(e->path, path) != 0)
			continue;
		*has_path = true;
		if (strcmp(e->method, is_head ? "GET" : method) == 0)
			return e;
	}
	return NULL;
}

static struct http_request *begin(struct http_server *g, struct MHD_Connection *c, const char *url)
{
	struct http_request *r = calloc(1, sizeof(*r));
	const union MHD_ConnectionInfo *info;

	if (!r)
		return NULL;
	r->http_server = g;
	r->connection = c;
	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	r->line = info ? info->socket_context : NULL;
	buf_init(&r->body, HTTP_BODY_BYTES_MAX);
	snprintf(r->path, sizeof(r->path), "%s", strlen(url) < sizeof(r->path) ? url : "/..");
	return r;
}

/* Checks everything that the headers contain. Returns 0, or the status that refuses the request. */
static int admit(struct http_request *r, const char *method, struct sonde_err *err)
{
	bool has_path;

	if (!http_is_clean_path(r->path)) {
		err_set(err, EINVAL, "this path is not clean");
		return MHD_HTTP_BAD_REQUEST;
	}
	r->endpoint = find_endpoint(r->http_server, method, r->path, &has_path);
	int status = http_check_request(r->http_server, r->connection, r->endpoint, err);

	if (status || r->endpoint)
		return status;
	err_set(err, ENOENT, has_path ? "'%s' does not support %s" : "'%s' not found", r->path, method);
	return has_path ? MHD_HTTP_METHOD_NOT_ALLOWED : MHD_HTTP_NOT_FOUND;
}

/* Exchanges a token in a page's URL for the cookie and removes it from the URL: 303 to the same path. */
static bool swap_token(struct http_request *r, struct http_reply *reply)
{
	const char *token = http_request_arg(r, "token");

	if (!token || !(r->endpoint->flags & HTTP_PAGE) || !http_exchange_token(r->http_server, token))
		return false;
	reply->status = MHD_HTTP_SEE_OTHER;
	reply->location = r->path;
	return true;
}

static int status_of(int rc)
{
	static const struct {
		int errnum, status;
	} rows[] = {
		{ EINVAL, MHD_HTTP_BAD_REQUEST },
		{ EACCES, MHD_HTTP_FORBIDDEN },
		{ ENOENT, MHD_HTTP_NOT_FOUND },
		{ E2BIG, MHD_HTTP_CONTENT_TOO_LARGE },
		{ EBUSY, MHD_HTTP_SERVICE_UNAVAILABLE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].errnum == -rc)
			return rows[i].status;
	return MHD_HTTP_INTERNAL_SERVER_ERROR;
}

static enum MHD_Result handle(struct http_request *r)
{
	struct http_reply reply = { .body = BUF_INIT };
	struct sonde_err err = SONDE_ERR_INIT;

	if (r->is_too_long) {
		err_set(&err, E2BIG, "the body is longer than %zu bytes", HTTP_BODY_BYTES_MAX);
		return http_refuse(r, MHD_HTTP_CONTENT_TOO_LARGE, &err);
	}
	if (!swap_token(r, &reply)) {
		int rc = r->endpoint->handle(r->http_server->options.arg, r, &reply, &err);

		if (rc == 0)
			rc = buf_error(&reply.body);
		if (rc < 0) {
			buf_release(&reply.body);
			return http_refuse(r, status_of(rc), &err);
		}
	}
	return http_send(r, &reply);
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *c, const char *url, const char *method,
		const char *version, const char *upload, size_t *upload_bytes, void **place)
{
	struct http_request *r = *place;
	struct sonde_err err = SONDE_ERR_INIT;
	int status;

	if (r && *upload_bytes) {
		buf_add(&r->body, upload, *upload_bytes);
		r->is_too_long |= buf_error(&r->body) < 0;
		*upload_bytes = 0;
		return MHD_YES;
	}
	if (r) {
		http_connection_state(r->line, HTTP_ANSWERS);
		return handle(r);
	}
	r = *place = begin(arg, c, url);
	if (!r)
		return MHD_NO;
	status = admit(r, method, &err);
	if (!status)
		return MHD_YES;
	http_connection_state(r->line, HTTP_ANSWERS);
	return http_refuse(r, status, &err);
}

static void completed(void *arg, struct MHD_Connection *c, void **place, enum MHD_RequestTerminationCode code)
{
	struct http_request *r = *place;

	if (!r)
		return;
	http_connection_state(r->line, HTTP_WAITS);
	buf_release(&r->body);
	free(r);
	*place = NULL;
}

static void log_nothing(void *arg, const char *format, va_list ap) {}

static int set_up(struct http_server *g, struct sonde_err *err)
{
	int rc = http_create_token(g->session, err);

	if (rc == 0)
		rc = g->options.unix_path ? listen_unix(g, err) : listen_tcp(g, err);
	if (rc < 0)
		return rc;
	snprintf(g->cookie, sizeof(g->cookie), "sonde_%u", g->port);
	rc = http_watch_start(g, err);
	if (rc < 0)
		return rc;
	g->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME |
					MHD_USE_ITC,
			0, NULL, NULL, answer, g, MHD_OPTION_EXTERNAL_LOGGER, log_nothing, NULL,
			MHD_OPTION_LISTEN_SOCKET, g->fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS_MAX,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_HEADER_BYTES_MAX, MHD_OPTION_THREAD_POOL_SIZE,
			(unsigned)THREADS, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_NOTIFY_CONNECTION,
			http_notify_connection, g, MHD_OPTION_END);
	if (!g->daemon)
		return err_set(err, EIO, "cannot start the HTTP server");
	g->fd = -1; /* the daemon closes it */
	return 0;
}

int http_server_start(struct http_server **out, const struct http_server_options *options, struct sonde_err *err)
{
	struct http_server *g = calloc(1, sizeof(*g));
	int rc;

	if (!g)
		return err_sys(err, ENOMEM, "cannot start the HTTP server");
	g->options = *options;
	if (!g->options.request_seconds)
		g->options.request_seconds = HTTP_REQUEST_SECONDS;
	g->fd = -1;
	pthread_mutex_init(&g->lock, NULL);
	rc = set_up(g, err);
	if (rc < 0) {
		http_server_stop(g);
		return rc;
	}
	*out = g;
	return 0;
}

void http_server_stop(struct http_server *g)
{
	if (!g)
		return;
	http_watch_stop(g);
	if (g->daemon)
		MHD_stop_daemon(g->daemon);
	if (g->fd >= 0)
		close(g->fd);
	if (g->unix_path)
		unlink(g->unix_path);
	free(g->unix_path);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

unsigned http_server_port(const struct http_server *g)
{
	return g->port;
}

int http_server_url(struct http_server *g, struct buf *out, struct sonde_err *err)
{
	char token[HTTP_TOKEN_BYTES];
	bool is_six = strchr(g->address, ':') != NULL;
	int rc;

	if (g->unix_path) {
		buf_addf(out, "http+unix:%s", g->unix_path);
		return buf_error(out);
	}
	rc = http_create_token(token, err);
	if (rc < 0)
		return rc;
	/* The oldest token makes room for this one. */
	pthread_mutex_lock(&g->lock);
	memmove(g->tokens[0], g->tokens[1], sizeof(g->tokens) - sizeof(g->tokens[0]));
	memcpy(g->tokens[HTTP_TOKENS_MAX - 1], token, HTTP_TOKEN_BYTES);
	pthread_mutex_unlock(&g->lock);
	buf_addf(out, "http://%s%s%s:%u/?token=%s", is_six ? "[" : "", g->address, is_six ? "]" : "", g->port, token);
	return buf_error(out);
}

const char *http_request_path(const struct http_request *r)
{
	return r->path;
}

const char *http_request_arg(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *http_request_header(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const struct buf *http_request_body(const struct http_request *r)
{
	return &r->body;
}

struct http_server *http_request_server(const struct http_request *r)
{
	return r->http_server;
}

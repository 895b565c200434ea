/*
 * Access control: Host, Origin, cookie, bearer token.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "serve/http-server-private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int http_create_token(char token[HTTP_TOKEN_BYTES], struct sonde_err *err)
{
	unsigned char bytes[(HTTP_TOKEN_BYTES - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_sys(err, errno, "cannot create a token");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* Constant-time comparison. */
static bool is_same(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned char differs = n != m;

	/* Always loops over the length of the secret: the length is public, the bytes are not. */
	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(a[i] ^ b[m ? i % m : 0]);
	return !differs && n > 0;
}

bool http_exchange_token(struct http_server *g, const char *token)
{
	bool is_found = false;

	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < HTTP_TOKENS_MAX; i++) {
		bool is_it = g->tokens[i][0] && is_same(g->tokens[i], token);

		is_found |= is_it;
		if (is_it)
			memset(g->tokens[i], 0, HTTP_TOKEN_BYTES);
	}
	pthread_mutex_unlock(&g->lock);
	return is_found;
}

/* libmicrohttpd has decoded the path. Rejects "." and ".." components, empty components and unprintable characters. */
bool http_is_clean_path(const char *path)
{
	if (path[0] != '/')
		return false;
	for (const char *p = path; *p; p++) {
		if ((unsigned char)*p <= ' ' || *p == 0x7f || *p == '\\')
			return false;
		if (p[0] == '/' && (p[1] == '/' || (p[1] == '.' && (!p[2] || p[2] == '/' || p[2] == '.'))))
			return false;
	}
	return true;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Tests whether host is `name` or `name:port` with our port; the default port is 80. */
static bool is_name(const struct http_server *g, const char *host, const char *name)
{
	size_t n = strlen(name);
	char port[8];

	if (strncasecmp(host, name, n) != 0)
		return false;
	if (!host[n])
		return g->port == 80;
	snprintf(port, sizeof(port), "%u", g->port);
	return host[n] == ':' && strcmp(host + n + 1, port) == 0;
}

static bool is_our_host(const struct http_server *g, const char *host)
{
	static const char *const loopback[] = { "127.0.0.1", "localhost", "[::1]", NULL };
	char own[sizeof(g->address) + 2];

	snprintf(own, sizeof(own), strchr(g->address, ':') ? "[%s]" : "%s", g->address);
	if (is_name(g, host, own))
		return true;
	for (const char *const *name = loopback; *name; name++)
		if (is_name(g, host, *name))
			return true;
	for (const char *const *name = g->options.hosts; name && *name; name++)
		if (is_name(g, host, *name))
			return true;
	return false;
}

static bool is_our_origin(const char *origin, const char *host)
{
	static const char scheme[] = "http://";

	return strncmp(origin, scheme, sizeof(scheme) - 1) == 0 && strcasecmp(origin + sizeof(scheme) - 1, host) == 0;
}

static bool has_bearer(const struct http_server *g, struct MHD_Connection *c)
{
	static const char word[] = "Bearer ";
	const char *said = header(c, "Authorization");

	return g->options.bearer && said && strncmp(said, word, sizeof(word) - 1) == 0 &&
			is_same(g->options.bearer, said + sizeof(word) - 1);
}

static bool has_password(const struct http_server *g, struct MHD_Connection *c)
{
	CLEANUP(buf_release) struct buf want = BUF_INIT;
	const char *said = header(c, "Authorization");

	if (!g->options.basic || !said)
		return false;
	buf_adds(&want, "Basic ");
	buf_add_base64(&want, g->options.basic, strlen(g->options.basic));
	return buf_error(&want) == 0 && is_same(want.data, said);
}

static bool has_key(struct http_server *g, struct MHD_Connection *c)
{
	const char *cookie = MHD_lookup_connection_value(c, MHD_COOKIE_KIND, g->cookie);

	return (cookie && is_same(g->session, cookie)) || has_bearer(g, c) || has_password(g, c);
}

static bool has_good_token(struct http_server *g, struct MHD_Connection *c)
{
	const char *token = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token");
	bool is_good = false;

	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; token && i < HTTP_TOKENS_MAX; i++)
		is_good |= g->tokens[i][0] && is_same(g->tokens[i], token);
	pthread_mutex_unlock(&g->lock);
	return is_good;
}

int http_check_request(struct http_server *g, struct MHD_Connection *c, const struct http_endpoint *endpoint,
		struct sonde_err *err)
{
	const char *host = header(c, "Host"), *origin = header(c, "Origin");
	unsigned flags = endpoint ? endpoint->flags : 0;

	if (g->unix_path) {
		const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
		struct ucred who;
		socklen_t n = sizeof(who);

		/* On a Unix socket only this user and root: its mode says so too, but may have been changed. */
		if (info && getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 &&
				(who.uid == geteuid() || who.uid == 0))
			return 0;
		err_set(err, EACCES, "only the user who started the server and root may use this socket");
		return MHD_HTTP_FORBIDDEN;
	}
	if (!host || !is_our_host(g, host)) {
		err_set(err, EACCES, "Host header not allowed");
		err_hint(err, "use the address that was printed, or name the host with --host");
		return MHD_HTTP_FORBIDDEN;
	}
	if (origin && !is_our_origin(origin, host)) {
		err_set(err, EACCES, "cross-origin request not allowed");
		return MHD_HTTP_FORBIDDEN;
	}
	if (flags & HTTP_OPEN || has_key(g, c) || (flags & HTTP_PAGE && has_good_token(g, c)))
		return 0;
	if (g->options.basic) {
		err_set(err, EACCES, "this needs the name and the token that the server was started with");
		return MHD_HTTP_UNAUTHORIZED;
	}
	err_set(err, EACCES, "this needs the address with the token, and each token opens the page once");
	err_hint(err, "start 'sonde view' again, or request another link in a browser that has the page open");
	return MHD_HTTP_FORBIDDEN;
}

/*
 * A thread that checks every connection four times a second: it shuts down connections that take too long to send a
 * request or to read a response, and resumes suspended streams. libmicrohttpd's own timeout restarts with each byte,
 * so it cannot do this.
 */

#define NS_PER_SECOND ((int64_t)1000000000)

static int64_t limit_ns(const struct http_connection *line)
{
	switch (line->state) {
	case HTTP_WAITS:
		return line->http_server->options.request_seconds * NS_PER_SECOND;
	case HTTP_ANSWERS:
		return HTTP_REPLY_SECONDS * NS_PER_SECOND;
	default:
		return INT64_MAX;
	}
}

static void *watch(void *arg)
{
	struct http_server *g = arg;
	struct timespec until;

	pthread_mutex_lock(&g->lock);
	while (!g->is_stopping) {
		int64_t now_ns;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += HTTP_TICK_MS * 1000000L;
		if (until.tv_nsec >= NS_PER_SECOND) {
			until.tv_nsec -= NS_PER_SECOND;
			until.tv_sec++;
		}
		pthread_cond_timedwait(&g->wake, &g->lock, &until);
		now_ns = clock_mono_ns();
		for (struct http_connection *line = g->lines; line; line = line->next) {
			if (now_ns - line->since_ns > limit_ns(line)) {
				shutdown(line->fd, SHUT_RDWR); /* the daemon detects this and closes the connection */
				line->state = HTTP_CUT;
			}
			if (line->is_suspended) {
				line->is_suspended = false;
				MHD_resume_connection(line->connection);
			}
		}
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

int http_watch_start(struct http_server *g, struct sonde_err *err)
{
	pthread_condattr_t attr;
	int rc;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&g->wake, &attr);
	pthread_condattr_destroy(&attr);
	rc = pthread_create(&g->watch, NULL, watch, g);
	if (rc)
		return err_sys(err, rc, "cannot start a thread");
	g->has_watch = true;
	return 0;
}

void http_watch_stop(struct http_server *g)
{
	if (!g->has_watch)
		return;
	pthread_mutex_lock(&g->lock);
	g->is_stopping = true;
	pthread_cond_signal(&g->wake);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->watch, NULL);
	pthread_cond_destroy(&g->wake);
	g->has_watch = false;
}

void http_connection_state(struct http_connection *line, int state)
{
	if (!line)
		return;
	pthread_mutex_lock(&line->http_server->lock);
	if (line->state != HTTP_CUT)
		line->state = state;
	line->since_ns = clock_mono_ns();
	pthread_mutex_unlock(&line->http_server->lock);
}

static void add(struct http_server *g, struct MHD_Connection *c, void **place)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http_connection *line = info ? calloc(1, sizeof(*line)) : NULL;

	if (!line)
		return;
	*line = (struct http_connection){ .http_server = g,
		.connection = c,
		.fd = info->connect_fd,
		.since_ns = clock_mono_ns() };
	pthread_mutex_lock(&g->lock);
	line->next = g->lines;
	line->place = &g->lines;
	if (line->next)
		line->next->place = &line->next;
	g->lines = line;
	pthread_mutex_unlock(&g->lock);
	*place = line;
}

void http_notify_connection(void *arg, struct MHD_Connection *c, void **place, enum MHD_ConnectionNotificationCode code)
{
	struct http_server *g = arg;
	struct http_connection *line = *place;

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		add(g, c, place);
	else if (line) {
		pthread_mutex_lock(&g->lock);
		*line->place = line->next;
		if (line->next)
			line->next->place = line->place;
		pthread_mutex_unlock(&g->lock);
		free(line);
	}
}

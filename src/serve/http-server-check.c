/*
 * Access control: Host, Origin, cookie, bearer token.
 */
#include "serve/http-server-private.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

int http_make_token(char token[HTTP_TOKEN_BYTES], struct sonde_err *err)
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

/* Appends text in base64, for basic authentication. */
static void add_base64(struct buf *out, const char *text)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i += 3) {
		unsigned word = 0;

		for (size_t k = 0; k < 3; k++)
			word = word << 8 | (i + k < n ? (unsigned char)text[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			buf_addc(out, i + k <= n ? digits[word >> (18 - 6 * k) & 63] : '=');
	}
}

static bool has_password(const struct http_server *g, struct MHD_Connection *c)
{
	CLEANUP(buf_release) struct buf want = BUF_INIT;
	const char *said = header(c, "Authorization");

	if (!g->options.basic || !said)
		return false;
	buf_adds(&want, "Basic ");
	add_base64(&want, g->options.basic);
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

/* On a Unix socket only this user and root are allowed. The socket's mode enforces that too, but may have been
 * changed. */
static int check_peer(struct MHD_Connection *c, struct sonde_err *err)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct ucred who;
	socklen_t n = sizeof(who);

	if (info && getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 &&
			(who.uid == geteuid() || who.uid == 0))
		return 0;
	err_set(err, EACCES, "only the user who started the server and root may use this socket");
	return MHD_HTTP_FORBIDDEN;
}

int http_check_request(struct http_server *g, struct MHD_Connection *c, const struct http_endpoint *endpoint,
		struct sonde_err *err)
{
	const char *host = header(c, "Host"), *origin = header(c, "Origin");
	unsigned flags = endpoint ? endpoint->flags : 0;

	if (g->unix_path)
		return check_peer(c, err);
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

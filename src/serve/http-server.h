/*
 * http-server: the only HTTP server of sonde.
 *
 * An endpoint is a row {method, path, handle, flags}; the page, the live exporter and the job server are tables of
 * such rows. A request reaches a handler only if
 *
 *   - its Host names an address that is served (no DNS rebinding), and its
 *     Origin, if present, is the same address (no cross-site requests);
 *   - it carries the cookie, or the bearer token or the name and password of the
 *     options, or arrives on a Unix socket, which is protected by its mode; rows
 *     with HTTP_OPEN need none of these, for exporters on loopback;
 *   - its path has no "..", its headers and body are within their limits, and it
 *     arrived in time.
 *
 * The cookie (HttpOnly, SameSite=Strict) is set once in exchange for the token in the URL that http_server_url
 * creates; a used token is invalid. Every response has headers that forbid framing, sniffing, caching and content
 * from other origins. Responses may be compressed; nothing here prints.
 */
#ifndef SONDE_SERVE_HTTP_SERVER_H
#define SONDE_SERVE_HTTP_SERVER_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_BODY_BYTES_MAX ((size_t)1 << 20)
#define HTTP_HEADER_BYTES_MAX ((size_t)32 << 10) /* of a request, including the request line */
#define HTTP_CONNECTIONS_MAX 64
#define HTTP_REQUEST_SECONDS 20 /* to send a request, and maximum idle time between two */
#define HTTP_REPLY_SECONDS 300  /* to read a response; streams have no limit */

struct http_server;
struct http_request; /* see the http_request_ functions */

/* Server-sent events: `next` appends pending events, or nothing; it is called again every 250 ms. */
struct http_stream {
	int (*next)(void *arg, struct buf *out); /* negative: ends the stream */
	void (*free)(void *arg);
	void *arg;
};

struct http_reply {
	int status;       /* 0: 200 */
	const char *type; /* content type; NULL: application/json */
	struct buf body;
	const void *fixed; /* instead of the body: bytes that live as long as the server */
	size_t fixed_bytes;
	const char *location;      /* a local path: of a redirect (303), or of a created resource (201) */
	char place[128];           /* buffer for a generated location */
	struct http_stream stream; /* if next is set: used instead of the body; the server frees it */
	const char *policy;        /* Content-Security-Policy; NULL: nothing may load */
};

/*
 * Returns 0, or -errno and a message: -EINVAL is 400, -EACCES 403, -ENOENT 404, -E2BIG 413, -EBUSY 503, others 500.
 */
typedef int http_handler(void *arg, const struct http_request *request, struct http_reply *reply,
		struct sonde_err *err);

enum http_flags {
	HTTP_OPEN = 1 << 0,  /* no token required */
	HTTP_PAGE = 1 << 1,  /* a page for browsers: accepts the token of a URL, and reports errors in HTML */
	HTTP_BELOW = 1 << 2, /* the path ends in '/' and matches everything below it */
};

struct http_endpoint {
	const char *method; /* "GET" answers HEAD too */
	const char *path;   /* exact match without HTTP_BELOW; the first matching row is used */
	http_handler *handle;
	unsigned flags;
};

struct http_server_options {
	const struct http_endpoint *endpoints; /* ends with method NULL */
	void *arg;                             /* for the handlers, which run concurrently in several threads */
	const char *address;                   /* numeric; NULL: 127.0.0.1 */
	unsigned port;                         /* 0: any free port */
	const char *unix_path;                 /* Unix socket instead of a port, mode 0600 */
	const char *const *hosts;              /* additional valid Host names; NULL: none */
	const char *bearer;                    /* also accepted: "Authorization: Bearer ..."; NULL: none */
	const char *basic;                     /* also accepted: "USER:PASSWORD" by basic authentication; NULL: none */
	int request_seconds;                   /* 0: HTTP_REQUEST_SECONDS; tests use less */
};

int http_server_start(struct http_server **out, const struct http_server_options *options, struct sonde_err *err);
void http_server_stop(struct http_server *g); /* aborts requests in progress; accepts NULL */
unsigned http_server_port(const struct http_server *g);
/* Appends a URL with a token that opens the page once; unused older tokens stay valid. */
int http_server_url(struct http_server *g, struct buf *out, struct sonde_err *err);

/* For handlers. */
const char *http_request_path(const struct http_request *r);
const char *http_request_arg(const struct http_request *r, const char *name);    /* query argument; NULL if absent */
const char *http_request_header(const struct http_request *r, const char *name); /* NULL if absent */
const struct buf *http_request_body(const struct http_request *r);
struct http_server *http_request_server(const struct http_request *r);

#endif

/*
 * guard: the one HTTP server of sonde, and the only door to it.
 *
 * An endpoint is a row {method, path, handle, flags}; the page, the live
 * exporter and the job server are tables of such rows given to a guard. A
 * request reaches a handler only when
 *
 *   - its Host names an address that is served (no DNS rebinding), and its
 *     Origin, if it has one, is that same place (no other site's page);
 *   - it carries the cookie, or the bearer token or the name and password of the
 *     options, or comes over a Unix socket, whose permissions are the key; rows
 *     with HTTP_OPEN need none of these, for exporters on loopback;
 *   - its path has no "..", its headers and body keep to their limits, and it
 *     arrived in time.
 *
 * The cookie (HttpOnly, SameSite=Strict) is given once for the token in the URL
 * that http_server_url makes; a token that was used is worth nothing. Every answer
 * has headers that forbid framing, sniffing, caching and anything from another
 * place. What a handler says may be compressed; nothing here prints.
 */
#ifndef SONDE_SERVE_HTTP_SERVER_H
#define SONDE_SERVE_HTTP_SERVER_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_BODY_BYTES_MAX ((size_t)1 << 20)
#define HTTP_HEADER_BYTES_MAX ((size_t)32 << 10) /* of a request, with its first line */
#define HTTP_CONNECTIONS_MAX 64
#define HTTP_REQUEST_SECONDS 20 /* to send a request in, and to idle between two */
#define HTTP_REPLY_SECONDS 300  /* to take an answer in; streams have no end */

struct http_server;
struct http_request; /* see the http_request_ functions */

/* Server-sent events: `next` appends what there is to say now, or nothing; it is asked again every 250 ms. */
struct http_stream {
	int (*next)(void *arg, struct buf *out); /* negative: the stream ends */
	void (*free)(void *arg);
	void *arg;
};

struct http_reply {
	int status;       /* 0: 200 */
	const char *type; /* of the content; NULL: application/json */
	struct buf body;
	const void *fixed; /* instead of the body: bytes that live as long as the guard */
	size_t fixed_bytes;
	const char *location;      /* a path of ours: of a redirect (303), or of what was made (201) */
	char place[128];           /* room for a location that has to be made */
	struct http_stream stream; /* next set: instead of the body; the guard frees it */
	const char *policy;        /* Content-Security-Policy; NULL: nothing may load */
};

/*
 * 0, or a negative errno and a sentence: -EINVAL is 400, -EACCES 403, -ENOENT 404, -E2BIG 413, -EBUSY
 * 503, others 500.
 */
typedef int http_handler(void *arg, const struct http_request *request, struct http_reply *reply,
		struct sonde_err *err);

enum http_flags {
	HTTP_OPEN = 1 << 0,  /* no token asked */
	HTTP_PAGE = 1 << 1,  /* a page for people: takes the token of a URL, and refuses in HTML */
	HTTP_BELOW = 1 << 2, /* the path ends in '/' and stands for all that is below it */
};

struct http_endpoint {
	const char *method; /* "GET" answers HEAD too */
	const char *path;   /* exactly, without HTTP_BELOW; the first row that fits is taken */
	http_handler *handle;
	unsigned flags;
};

struct http_server_options {
	const struct http_endpoint *endpoints; /* ends with method NULL */
	void *arg;                             /* for the handlers; they are called by several threads at once */
	const char *address;                   /* numeric; NULL: 127.0.0.1 */
	unsigned port;                         /* 0: any that is free */
	const char *unix_path;                 /* a socket instead, mode 0600 */
	const char *const *hosts;              /* further names that Host may have; NULL: none */
	const char *bearer;                    /* also taken: "Authorization: Bearer ..."; NULL: none */
	const char *basic;                     /* also taken: "USER:PASSWORD" by basic authentication; NULL: none */
	int request_seconds;                   /* 0: HTTP_REQUEST_SECONDS; less for tests */
};

int http_server_start(struct http_server **out, const struct http_server_options *options, struct sonde_err *err);
void http_server_stop(struct http_server *g); /* ends what is under way; NULL is fine */
unsigned http_server_port(const struct http_server *g);
/* An address with a token that opens the page once; older ones that were not used stay good. */
int http_server_url(struct http_server *g, struct buf *out, struct sonde_err *err);

/* What a handler may ask. */
const char *http_request_path(const struct http_request *r);
const char *http_request_arg(const struct http_request *r, const char *name);    /* of the query; NULL: none */
const char *http_request_header(const struct http_request *r, const char *name); /* NULL: it has none */
const struct buf *http_request_body(const struct http_request *r);
struct http_server *http_request_server(const struct http_request *r);

#endif

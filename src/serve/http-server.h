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
 *     with GUARD_OPEN need none of these, for exporters on loopback;
 *   - its path has no "..", its headers and body keep to their limits, and it
 *     arrived in time.
 *
 * The cookie (HttpOnly, SameSite=Strict) is given once for the token in the URL
 * that guard_url makes; a token that was used is worth nothing. Every answer
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

#define GUARD_BODY_BYTES_MAX ((size_t)1 << 20)
#define GUARD_HEADER_BYTES_MAX ((size_t)32 << 10) /* of a request, with its first line */
#define GUARD_CONNECTIONS_MAX 64
#define GUARD_REQUEST_SECONDS 20 /* to send a request in, and to idle between two */
#define GUARD_REPLY_SECONDS 300  /* to take an answer in; streams have no end */

struct guard;
struct guard_request; /* see the guard_request_ functions */

/* Server-sent events: `next` appends what there is to say now, or nothing; it is asked again every 250 ms. */
struct guard_stream {
	int (*next)(void *arg, struct buf *out); /* negative: the stream ends */
	void (*free)(void *arg);
	void *arg;
};

struct guard_reply {
	int status;       /* 0: 200 */
	const char *type; /* of the content; NULL: application/json */
	struct buf body;
	const void *fixed; /* instead of the body: bytes that live as long as the guard */
	size_t fixed_bytes;
	const char *location;       /* a path of ours: of a redirect (303), or of what was made (201) */
	char place[128];            /* room for a location that has to be made */
	struct guard_stream stream; /* next set: instead of the body; the guard frees it */
	const char *policy;         /* Content-Security-Policy; NULL: nothing may load */
};

/*
 * 0, or a negative errno and a sentence: -EINVAL is 400, -EACCES 403, -ENOENT 404, -E2BIG 413, -EBUSY
 * 503, others 500.
 */
typedef int guard_handler(void *arg, const struct guard_request *request, struct guard_reply *reply,
		struct sonde_err *err);

enum guard_flags {
	GUARD_OPEN = 1 << 0,  /* no token asked */
	GUARD_PAGE = 1 << 1,  /* a page for people: takes the token of a URL, and refuses in HTML */
	GUARD_BELOW = 1 << 2, /* the path ends in '/' and stands for all that is below it */
};

struct guard_endpoint {
	const char *method; /* "GET" answers HEAD too */
	const char *path;   /* exactly, without GUARD_BELOW; the first row that fits is taken */
	guard_handler *handle;
	unsigned flags;
};

struct guard_options {
	const struct guard_endpoint *endpoints; /* ends with method NULL */
	void *arg;                              /* for the handlers; they are called by several threads at once */
	const char *address;                    /* numeric; NULL: 127.0.0.1 */
	unsigned port;                          /* 0: any that is free */
	const char *unix_path;                  /* a socket instead, mode 0600 */
	const char *const *hosts;               /* further names that Host may have; NULL: none */
	const char *bearer;                     /* also taken: "Authorization: Bearer ..."; NULL: none */
	const char *basic;                      /* also taken: "USER:PASSWORD" by basic authentication; NULL: none */
	int request_seconds;                    /* 0: GUARD_REQUEST_SECONDS; less for tests */
};

int guard_start(struct guard **out, const struct guard_options *options, struct sonde_err *err);
void guard_stop(struct guard *g); /* ends what is under way; NULL is fine */
unsigned guard_port(const struct guard *g);
/* An address with a token that opens the page once; older ones that were not used stay good. */
int guard_url(struct guard *g, struct buf *out, struct sonde_err *err);

/* What a handler may ask. */
const char *guard_request_path(const struct guard_request *r);
const char *guard_request_arg(const struct guard_request *r, const char *name);    /* of the query; NULL: none */
const char *guard_request_header(const struct guard_request *r, const char *name); /* NULL: it has none */
const struct buf *guard_request_body(const struct guard_request *r);
struct guard *guard_request_guard(const struct guard_request *r);

#endif

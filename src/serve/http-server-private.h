/*
 * What the parts of the guard share. Private to serve/guard*.c.
 */
#ifndef SONDE_SERVE_HTTP_SERVER_PRIVATE_H
#define SONDE_SERVE_HTTP_SERVER_PRIVATE_H

#include "serve/http-server.h"

#include <microhttpd.h>
#include <pthread.h>
#include <sys/socket.h>

#define GUARD_TOKEN_BYTES 33 /* 128 bits in hexadecimal and a NUL */
#define GUARD_TOKENS_MAX 16  /* not used yet; the oldest goes */
#define GUARD_TICK_MS 250

/* A connection; `since_ns` is when it began to wait for a request, or to be answered. */
struct guard_line {
	struct guard_line *next, **place;
	struct guard *guard;
	struct MHD_Connection *connection;
	int fd;
	int64_t since_ns;
	enum { GUARD_WAITS, GUARD_ANSWERS, GUARD_STREAMS, GUARD_CUT } state;
	bool is_suspended;
};

struct guard_request {
	struct guard *guard;
	struct MHD_Connection *connection;
	struct guard_line *line;
	const struct guard_endpoint *endpoint;
	char path[256];
	struct buf body;
	bool is_too_long;
};

struct guard {
	struct guard_options options;
	struct MHD_Daemon *daemon;
	int fd; /* that listens */
	unsigned port;
	char address[64];
	char *unix_path;
	char cookie[32]; /* its name: cookies do not know ports */
	char session[GUARD_TOKEN_BYTES];
	pthread_mutex_t lock; /* of what follows */
	char tokens[GUARD_TOKENS_MAX][GUARD_TOKEN_BYTES];
	struct guard_line *lines;
	bool is_stopping;
	/* the watch */
	pthread_t watch;
	bool has_watch;
	pthread_cond_t wake;
};

/* http-server-listen.c: g->fd, g->port and g->address by the options. */
int guard_listen(struct guard *g, struct sonde_err *err);

/* http-server-check.c: may this request be answered? 0, or the HTTP status that refuses it, with words. */
int guard_check(struct guard *g, struct MHD_Connection *c, const struct guard_endpoint *endpoint,
		struct sonde_err *err);
bool guard_is_clean_path(const char *path);
int guard_make_token(char token[GUARD_TOKEN_BYTES], struct sonde_err *err);
/* Is it a token of a URL? It is used up then. */
bool guard_take_token(struct guard *g, const char *token);

/* http-server-reply.c: hand the reply to the connection and release it. */
enum MHD_Result guard_send(struct guard_request *r, struct guard_reply *reply);
enum MHD_Result guard_refuse(struct guard_request *r, int status, const struct sonde_err *err);

/* http-server-watch.c: connections that take too long, and streams that have something to say. */
int guard_watch_start(struct guard *g, struct sonde_err *err);
void guard_watch_stop(struct guard *g);
void guard_line_state(struct guard_line *line, int state);
void guard_notify_connection(void *arg, struct MHD_Connection *c, void **place,
		enum MHD_ConnectionNotificationCode code);

/* gzip.c: append bytes compressed, quickly; 0 or -ENOMEM. */
int guard_gzip(struct buf *out, const void *bytes, size_t n);

#endif

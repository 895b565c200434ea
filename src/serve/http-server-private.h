/*
 * What the parts of the guard share. Private to serve/guard*.c.
 */
#ifndef SONDE_SERVE_HTTP_SERVER_PRIVATE_H
#define SONDE_SERVE_HTTP_SERVER_PRIVATE_H

#include "serve/http-server.h"

#include <microhttpd.h>
#include <pthread.h>
#include <sys/socket.h>

#define HTTP_TOKEN_BYTES 33 /* 128 bits in hexadecimal and a NUL */
#define HTTP_TOKENS_MAX 16  /* not used yet; the oldest goes */
#define HTTP_TICK_MS 250

/* A connection; `since_ns` is when it began to wait for a request, or to be answered. */
struct http_connection {
	struct http_connection *next, **place;
	struct http_server *http_server;
	struct MHD_Connection *connection;
	int fd;
	int64_t since_ns;
	enum { HTTP_WAITS, HTTP_ANSWERS, HTTP_STREAMS, HTTP_CUT } state;
	bool is_suspended;
};

struct http_request {
	struct http_server *http_server;
	struct MHD_Connection *connection;
	struct http_connection *line;
	const struct http_endpoint *endpoint;
	char path[256];
	struct buf body;
	bool is_too_long;
};

struct http_server {
	struct http_server_options options;
	struct MHD_Daemon *daemon;
	int fd; /* that listens */
	unsigned port;
	char address[64];
	char *unix_path;
	char cookie[32]; /* its name: cookies do not know ports */
	char session[HTTP_TOKEN_BYTES];
	pthread_mutex_t lock; /* of what follows */
	char tokens[HTTP_TOKENS_MAX][HTTP_TOKEN_BYTES];
	struct http_connection *lines;
	bool is_stopping;
	/* the watch */
	pthread_t watch;
	bool has_watch;
	pthread_cond_t wake;
};

/* http-server-listen.c: g->fd, g->port and g->address by the options. */
int http_listen(struct http_server *g, struct sonde_err *err);

/* http-server-check.c: may this request be answered? 0, or the HTTP status that refuses it, with words. */
int http_check_request(struct http_server *g, struct MHD_Connection *c, const struct http_endpoint *endpoint,
		struct sonde_err *err);
bool http_is_clean_path(const char *path);
int http_make_token(char token[HTTP_TOKEN_BYTES], struct sonde_err *err);
/* Is it a token of a URL? It is used up then. */
bool http_exchange_token(struct http_server *g, const char *token);

/* http-server-reply.c: hand the reply to the connection and release it. */
enum MHD_Result http_send(struct http_request *r, struct http_reply *reply);
enum MHD_Result http_refuse(struct http_request *r, int status, const struct sonde_err *err);

/* http-server-watch.c: connections that take too long, and streams that have something to say. */
int http_watch_start(struct http_server *g, struct sonde_err *err);
void http_watch_stop(struct http_server *g);
void http_connection_state(struct http_connection *line, int state);
void http_notify_connection(void *arg, struct MHD_Connection *c, void **place,
		enum MHD_ConnectionNotificationCode code);

/* gzip.c: append bytes compressed, quickly; 0 or -ENOMEM. */
int http_gzip(struct buf *out, const void *bytes, size_t n);

#endif

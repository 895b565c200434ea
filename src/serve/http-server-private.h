/*
 * http-server-private: shared by http-server*.c only.
 */
#ifndef SONDE_SERVE_HTTP_SERVER_PRIVATE_H
#define SONDE_SERVE_HTTP_SERVER_PRIVATE_H

#include "serve/http-server.h"

#include <microhttpd.h>
#include <pthread.h>
#include <sys/socket.h>

#define HTTP_TOKEN_BYTES 33 /* 128 bits in hexadecimal and a NUL */
#define HTTP_TOKENS_MAX 16  /* unused tokens; the oldest is dropped */
#define HTTP_TICK_MS 250

/* A connection; `since_ns` is when it started to wait for a request, or for its response to be sent. */
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
	int fd; /* listening socket */
	unsigned port;
	char address[64];
	char *unix_path;
	char cookie[32]; /* name of the cookie: cookies are not separated by port */
	char session[HTTP_TOKEN_BYTES];
	pthread_mutex_t lock; /* protects the fields below */
	char tokens[HTTP_TOKENS_MAX][HTTP_TOKEN_BYTES];
	struct http_connection *lines;
	bool is_stopping;
	/* the timeout thread (http-server-check.c) */
	pthread_t watch;
	bool has_watch;
	pthread_cond_t wake;
};

/* http-server-check.c: returns 0 if the request is allowed, or the HTTP status that refuses it, with a message. */
int http_check_request(struct http_server *g, struct MHD_Connection *c, const struct http_endpoint *endpoint,
		struct sonde_err *err);
bool http_is_clean_path(const char *path);
int http_create_token(char token[HTTP_TOKEN_BYTES], struct sonde_err *err);
/* Returns true if it is a valid token of a URL, and invalidates it. */
bool http_exchange_token(struct http_server *g, const char *token);

/* http-server-reply.c: queues the reply on the connection and releases it. */
enum MHD_Result http_send(struct http_request *r, struct http_reply *reply);
enum MHD_Result http_refuse(struct http_request *r, int status, const struct sonde_err *err);

/* http-server-check.c: closes connections that time out, and resumes streams. */
int http_watch_start(struct http_server *g, struct sonde_err *err);
void http_watch_stop(struct http_server *g);
void http_connection_state(struct http_connection *line, int state);
void http_notify_connection(void *arg, struct MHD_Connection *c, void **place,
		enum MHD_ConnectionNotificationCode code);

/* Appends the bytes, compressed at a fast level; 0 or -ENOMEM. */
int http_gzip(struct buf *out, const void *bytes, size_t n);

#endif

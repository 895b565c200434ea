/*
 * run-routes: HTTP endpoints of runs: the page at /, every response of the run API at /api/<name>, updates of a
 * growing run at /api/stream. Requests with run=b are for the second run, which the first is compared with.
 */
#ifndef SONDE_SERVE_RUN_ROUTES_H
#define SONDE_SERVE_RUN_ROUTES_H

#include "base/err.h"
#include "serve/http-server.h"
#include "serve/run-api.h"

struct http;

struct http_runs {
	struct run_api *run_api;
	struct run_api *other; /* NULL: no run to compare with */
};

/* Sets endpoints and arg of the options itself. The caller owns the runs, which must outlive the server. */
int http_start(struct http **out, const struct http_runs *runs, const struct http_server_options *options,
		struct sonde_err *err);
void http_stop(struct http *h); /* accepts NULL */
struct http_server *run_http_server(struct http *h);

/* For other endpoint tables: the page and its files; a link for another browser. */
int http_get_page(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err);
int http_post_link(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err);

#endif

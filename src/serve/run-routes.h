/*
 * http: views behind a guard: the page at /, every answer of the view at
 * /api/<name>, news of a growing run at /api/stream. A second run, to compare
 * with, answers where a question has run=b.
 */
#ifndef SONDE_SERVE_RUN_ROUTES_H
#define SONDE_SERVE_RUN_ROUTES_H

#include "base/err.h"
#include "serve/http-server.h"
#include "serve/run-api.h"

struct http;

struct http_runs {
	struct run_api *run_api;
	struct run_api *other; /* NULL: there is nothing to compare with */
};

/* Of options, the endpoints and arg are http's business. The views stay the caller's and outlive it. */
int http_start(struct http **out, const struct http_runs *runs, const struct http_server_options *options,
		struct sonde_err *err);
void http_stop(struct http *h); /* NULL is fine */
struct http_server *run_http_server(struct http *h);

/* For other tables of endpoints: the page and its files; a link for another browser. */
int http_get_page(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err);
int http_post_link(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err);

#endif

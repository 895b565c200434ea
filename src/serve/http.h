/*
 * http: a view behind a guard: the page at /, every answer of the view at
 * /api/<name>, news of a growing run at /api/stream.
 */
#ifndef SONDE_SERVE_HTTP_H
#define SONDE_SERVE_HTTP_H

#include "base/err.h"
#include "serve/guard.h"
#include "serve/view.h"

struct http;

/* Of options, the endpoints and arg are http's business. The view stays the caller's and outlives it. */
int http_start(struct http **out, struct view *view, const struct guard_options *options, struct sonde_err *err);
void http_stop(struct http *h); /* NULL is fine */
struct guard *http_guard(struct http *h);

#endif

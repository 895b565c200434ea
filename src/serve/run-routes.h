/*
 * run-routes: HTTP endpoints of runs: the page at /, every response of the run API at /api/<name>, updates of a
 * growing run at /api/stream. Requests with run=b are for the second run, which the first is compared with. Those of
 * comparisons and studies, and the way to a live dashboard, follow.
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

/*
 * HTTP endpoints of a comparison, or of a directory of its results.
 *
 * GET / is the page that `sonde duet --html` writes, rendered for each request, so that a running comparison shows
 * its progress; GET /api/duet is its JSON with every iteration.
 */

struct duet_server;

/* dir as accepted by duet_replay_is (duet/duet-replay.h); it must outlive the server. */
int duet_server_start(struct duet_server **out, const char *dir, const struct http_server_options *options,
		struct sonde_err *err);
struct http_server *duet_http_server(struct duet_server *s);
void duet_server_stop(struct duet_server *s); /* accepts NULL */

/*
 * HTTP endpoints of a tuning study: the page at /study, to which / redirects, its result at /api/study.
 *
 * The result is the file that `sonde tune` writes while it runs and at its end; the page polls it.
 */

/* Whether the directory has a study (a journal and a result). */
bool study_is_there(const char *dir);
/* Sets endpoints and arg of the options itself. `dir` must outlive the server; http_server_stop stops it. */
int study_start(struct http_server **out, const char *dir, const struct http_server_options *options,
		struct sonde_err *err);

/* Requests an address of the live dashboard from the control socket of a running `sonde live`. */
int live_page_find(const char *socket, struct buf *url, struct sonde_err *err);

#endif

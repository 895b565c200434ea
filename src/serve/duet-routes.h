/*
 * duet-routes: HTTP endpoints of a comparison, or of a directory of its results.
 *
 * GET / is the page that `sonde duet --html` writes, rendered for each request, so that a running comparison shows
 * its progress; GET /api/duet is its JSON with every iteration.
 */
#ifndef SONDE_SERVE_DUET_ROUTES_H
#define SONDE_SERVE_DUET_ROUTES_H

#include "serve/http-server.h"

struct duet_server;

/* dir as accepted by duet_replay_is (duet/duet-replay.h); it must outlive the server. */
int duet_server_start(struct duet_server **out, const char *dir, const struct http_server_options *options,
		struct sonde_err *err);
struct http_server *duet_http_server(struct duet_server *s);
void duet_server_stop(struct duet_server *s); /* accepts NULL */

#endif

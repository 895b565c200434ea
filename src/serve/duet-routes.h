/*
 * duet: a comparison, or a directory of its results, behind a guard.
 *
 * GET / is the page that `sonde duet --html` writes, made anew for each request, so that a comparison that is under
 * way is shown as far as it has come; GET /api/duet is its JSON with every iteration.
 */
#ifndef SONDE_SERVE_DUET_ROUTES_H
#define SONDE_SERVE_DUET_ROUTES_H

#include "serve/http-server.h"

struct duet_server;

/* dir as duet_replay_is (duet/duet-replay.h) takes it; it must last as long as the server. */
int duet_server_start(struct duet_server **out, const char *dir, const struct http_server_options *options,
		struct sonde_err *err);
struct http_server *duet_http_server(struct duet_server *s);
void duet_server_stop(struct duet_server *s); /* NULL is fine */

#endif

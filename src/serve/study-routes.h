/*
 * study-routes: HTTP endpoints of a tuning study: the page at /study, to which / redirects, its result at /api/study.
 *
 * The result is the file that `sonde tune` writes while it runs and at its end; the page polls it.
 */
#ifndef SONDE_SERVE_STUDY_ROUTES_H
#define SONDE_SERVE_STUDY_ROUTES_H

#include "serve/http-server.h"

/* Whether the directory has a study (a journal and a result). */
bool study_is_there(const char *dir);
/* Sets endpoints and arg of the options itself. `dir` must outlive the server; http_server_stop stops it. */
int study_start(struct http_server **out, const char *dir, const struct http_server_options *options,
		struct sonde_err *err);

#endif

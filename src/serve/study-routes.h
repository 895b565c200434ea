/*
 * study: a tuning study behind a guard: the page at /study, where / leads, its result at /api/study.
 *
 * The result is the file that `sonde tune` writes while it runs and at its end; who
 * looks asks again and sees it grow.
 */
#ifndef SONDE_SERVE_STUDY_ROUTES_H
#define SONDE_SERVE_STUDY_ROUTES_H

#include "serve/http-server.h"

/* Does the directory hold a study (a journal, and a result)? */
bool study_is_there(const char *dir);
/* Of options, the endpoints and arg are its own business. `dir` outlives it; http_server_stop ends it. */
int study_start(struct http_server **out, const char *dir, const struct http_server_options *options,
		struct sonde_err *err);

#endif

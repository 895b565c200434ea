/*
 * exporter: GET /metrics over live/scrape.h; with a controller /rules, /journal, and POST /off and /on; the live page
 * (live-page.h).
 */
#ifndef SONDE_SERVE_EXPORTER_H
#define SONDE_SERVE_EXPORTER_H

#include "live/control/controller.h"
#include "live/scrape-history.h"
#include "serve/http-server.h"

struct exporter_arg {
	struct live_exporter *exporter;
	struct controller *controller; /* NULL: none */
	struct live_history *history;  /* NULL: none */
	struct http_server *pages;     /* whose page a link opens; NULL: of the guard that is asked */
};

/*
 * What arg points to must live longer than the guard. Without options->basic anybody who reaches the address may ask
 * for metrics, and only for those: the rest needs a name and password, or a Unix socket.
 */
int exporter_start(struct http_server **out, const struct exporter_arg *arg, const struct http_server_options *options,
		struct sonde_err *err);

#endif

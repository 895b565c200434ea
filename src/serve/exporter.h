/*
 * exporter: GET /metrics over live/scrape.h; with a controller /rules, /journal, POST /off and POST /on; the live
 * dashboard (live-page.h).
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
	struct http_server *pages;     /* server of the page that a link opens; NULL: the requested one */
};

/*
 * What arg points to must outlive the server. Without options->basic any client that reaches the address may read
 * metrics, and only those: everything else needs a name and password, or a Unix socket.
 */
int exporter_start(struct http_server **out, const struct exporter_arg *arg, const struct http_server_options *options,
		struct sonde_err *err);

#endif

/*
 * live-page: the dashboard of a running `sonde live` and its API.
 *
 * GET /live is the page, GET /api/live the current values of everything that it shows:
 *
 *	{"time_ns", "version", "host", "samples": [[name, {label: value}, number]...],
 *	 "controller": null or rules and regulators, "journal": [line...]}
 *
 * and with ?history=1, which a page requests first, "history": past values (live/scrape-history.h).
 *
 * POST /api/link creates an address that opens the page once, for `sonde view --live`.
 */
#ifndef SONDE_SERVE_LIVE_PAGE_H
#define SONDE_SERVE_LIVE_PAGE_H

#include "live/control/controller.h"
#include "live/scrape-history.h"
#include "serve/http-server.h"

/*
 * GET /metrics over live/scrape.h; with a controller /rules, /journal, POST /off and POST /on; the live
 * dashboard (live-page.h).
 */

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

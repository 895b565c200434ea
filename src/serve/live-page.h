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

#include "serve/http-server.h"

/* Their arg is a struct exporter_arg. */
http_handler live_page_root, live_page_file, live_page_answer, live_page_link;

/* Requests an address of the page from the control socket of a running `sonde live`. */
int live_page_find(const char *socket, struct buf *url, struct sonde_err *err);

#endif

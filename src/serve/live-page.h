/*
 * live-page: the page of a running `sonde live` and what it asks for.
 *
 * GET /live is the page, GET /api/live everything that it shows, as it is now:
 *
 *	{"time_ns", "version", "host", "samples": [[name, {label: value}, number]...],
 *	 "controller": null or rules and regulators, "journal": [line...]}
 *
 * and with ?history=1, as a page asks first, "history": what it was (live/scrape-history.h).
 *
 * POST /api/link makes an address that opens the page once, for `sonde view --live`.
 */
#ifndef SONDE_SERVE_LIVE_PAGE_H
#define SONDE_SERVE_LIVE_PAGE_H

#include "serve/http-server.h"

/* Their arg is a struct exporter_arg. */
http_handler live_page_root, live_page_file, live_page_answer, live_page_link;

/* Ask the control socket of a running `sonde live` for an address of its page. */
int live_page_find(const char *socket, struct buf *url, struct sonde_err *err);

#endif

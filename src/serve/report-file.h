/*
 * report-file: a run as one standalone HTML file: the page, and the responses that it would have requested from a
 * server. It contains events at several resolutions, each eight times finer than the one before, as many as fit into
 * `events_bytes`; the coarsest is always included.
 */
#ifndef SONDE_SERVE_REPORT_FILE_H
#define SONDE_SERVE_REPORT_FILE_H

#include "base/buf.h"
#include "base/err.h"
#include "serve/run-api.h"

#include <stdint.h>

/* -ENOTSUP if this sonde was built without its page. */
int report_write(struct run_api *v, uint64_t events_bytes, struct buf *out, struct sonde_err *err);

#endif

/*
 * report: a run as one HTML file that needs nothing else: the page, and the
 * answers that it would have asked a server for. Events are in it at several
 * resolutions, each eight times finer, as many as `events_bytes` holds; the
 * first is always there.
 */
#ifndef SONDE_SERVE_REPORT_FILE_H
#define SONDE_SERVE_REPORT_FILE_H

#include "base/buf.h"
#include "base/err.h"
#include "serve/run-api.h"

#include <stdint.h>

#define REPORT_EVENTS_BYTES ((uint64_t)8 << 20)

/* -ENOTSUP when this sonde was built without its page. */
int report_write(struct run_api *v, uint64_t events_bytes, struct buf *out, struct sonde_err *err);

#endif

/*
 * history: what the samples were in the last two minutes, so that a page that is opened now can draw them.
 *
 * A thread looks every HISTORY_EVERY_S seconds. Of a series that only grows (_total, _sum, _count) it keeps what it
 * grew by a second, of others what they were, HISTORY_LOOKS of them. A series that is not there at a look is forgotten,
 * as scrapes forget it. Memory is bounded: series beyond HISTORY_SERIES_MAX have no history.
 */
#ifndef SONDE_LIVE_SCRAPE_HISTORY_H
#define SONDE_LIVE_SCRAPE_HISTORY_H

#include "base/json.h"
#include "live/scrape.h"

#define HISTORY_EVERY_S 2
#define HISTORY_LOOKS 60
#define HISTORY_SERIES_MAX 4000

struct live_history;

int live_history_start(struct live_history **out, struct live_exporter *e, struct sonde_err *err);
void live_history_free(struct live_history *h); /* NULL is fine */
/* {"every_s": 2, "series": [[name, {label: value}, [number or null...]]...]}, the newest number last. */
void live_history_show(struct live_history *h, struct json *out);

/* What the thread does: for tests. */
int live_history_open(struct live_history **out, struct live_exporter *e, struct sonde_err *err);
void live_history_begin(struct live_history *h, double now_s); /* a look */
void live_history_take(struct live_history *h, const char *name, const struct exposition_label *labels, size_t count,
		double value);
void live_history_end(struct live_history *h);

#endif

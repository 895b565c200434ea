/*
 * scrape-history: the samples of the last two minutes, so that a newly opened page can draw them.
 *
 * A thread samples every HISTORY_EVERY_S seconds and keeps HISTORY_LOOKS values: of an increasing series (_total,
 * _sum, _count) the increase per second, of others the value. A series that is missing in a round is removed, as in
 * a scrape. Memory is bounded: series beyond HISTORY_SERIES_MAX have no history.
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
void live_history_free(struct live_history *h); /* h may be NULL */
/* {"every_s": 2, "series": [[name, {label: value}, [number or null...]]...]}, the newest number last. */
void live_history_show(struct live_history *h, struct json *out);

/* The thread's functions, for tests. */
int live_history_open(struct live_history **out, struct live_exporter *e, struct sonde_err *err);
void live_history_begin(struct live_history *h, double now_s); /* starts a round */
void live_history_add(struct live_history *h, const char *name, const struct exposition_label *labels, size_t count,
		double value);
void live_history_end(struct live_history *h);

#endif

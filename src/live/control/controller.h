/*
 * controller: rules over the metrics of live, at work in a thread of its own.
 *
 * At each interval the metrics are sampled, the engine ticks and the warden hears that we live.
 * While the off file is there, or controller_switch said so, everything stands as it was and
 * nothing is done. A warden that has gone is replaced; until then nothing is changed.
 */
#ifndef SONDE_LIVE_CONTROL_CONTROLLER_H
#define SONDE_LIVE_CONTROL_CONTROLLER_H

#include "base/json.h"
#include "live/rules/rules-file.h"
#include "live/scrape.h"

struct controller;

/* Start the warden (before there are threads) and prepare; the file must outlive the controller. */
int controller_open(struct controller **out, const struct rules_file *f, struct live_exporter *e,
		struct sonde_err *err);
int controller_start(struct controller *c, struct sonde_err *err);
void controller_free(struct controller *c); /* everything stands as it was; NULL is fine */

void controller_switch(struct controller *c, bool is_on);
/* For exporter.more. */
void controller_metrics(void *arg, struct exposition *x);
/* Rules with their states and why; the newest lines of the journal. */
void controller_show_rules(struct controller *c, struct json *out);
void controller_show_journal(struct controller *c, struct json *out);

#endif

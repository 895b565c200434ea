/* See exporter.h. */
#include "serve/exporter.h"

#include <string.h>

static int get_metrics(void *arg, const struct guard_request *r, struct guard_reply *reply, struct sonde_err *err)
{
	const char *accept = guard_request_header(r, "Accept");
	bool is_openmetrics = accept && strstr(accept, "application/openmetrics-text");

	reply->type = is_openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
				     : "text/plain; version=0.0.4; charset=utf-8";
	return live_metrics(arg, is_openmetrics, &reply->body, err);
}

int exporter_start(struct guard **out, struct live_exporter *e, const struct guard_options *options,
		struct sonde_err *err)
{
	static const struct guard_endpoint open[] = { { "GET", "/metrics", get_metrics, GUARD_OPEN }, { NULL } };
	static const struct guard_endpoint closed[] = { { "GET", "/metrics", get_metrics, 0 }, { NULL } };
	struct guard_options o = *options;

	o.endpoints = o.basic ? closed : open;
	o.arg = e;
	return guard_start(out, &o, err);
}

/* See exporter.h. */
#include "serve/exporter.h"

static int get_metrics(void *arg, const struct guard_request *r, struct guard_reply *reply, struct sonde_err *err)
{
	enum exposition_format format = exposition_choose(guard_request_header(r, "Accept"));

	reply->type = exposition_content_type(format);
	return live_metrics(arg, format, &reply->body, err);
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

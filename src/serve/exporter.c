#include "serve/exporter.h"

#include "serve/live-page.h"

#include <errno.h>
#include <string.h>

static int get_metrics(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	const struct exporter_arg *a = arg;
	enum exposition_format format = exposition_choose(http_request_header(r, "Accept"));

	reply->type = exposition_content_type(format);
	return live_metrics(a->exporter, format, &reply->body, err);
}

static int show(void (*write)(struct controller *, struct json *), void *arg, struct http_reply *reply,
		struct sonde_err *err)
{
	const struct exporter_arg *a = arg;
	struct json j;

	if (!a->controller)
		return err_set(err, ENOENT, "no rules are loaded: use 'sonde live --rules FILE'");
	json_init(&j, &reply->body, false);
	write(a->controller, &j);
	return 0;
}

static int get_rules(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	(void)r;
	return show(controller_show_rules, arg, reply, err);
}

static int get_journal(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	(void)r;
	return show(controller_show_journal, arg, reply, err);
}

static int post_switch(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	const struct exporter_arg *a = arg;

	if (a->controller)
		controller_switch(a->controller, strcmp(http_request_path(r), "/on") == 0);
	return show(controller_show_rules, arg, reply, err);
}

#define REST \
	{ "GET", "/rules", get_rules, 0 }, { "GET", "/journal", get_journal, 0 }, { "POST", "/off", post_switch, 0 }, \
			{ "POST", "/on", post_switch, 0 }, { "GET", "/", live_page_root, HTTP_PAGE }, \
			{ "GET", "/live", live_page_file, HTTP_PAGE }, { "GET", "/app.js", live_page_file, 0 }, \
			{ "GET", "/app.css", live_page_file, 0 }, { "GET", "/api/live", live_page_answer, 0 }, \
			{ "POST", "/api/link", live_page_link, 0 }, \
	{ \
		NULL \
	}

int exporter_start(struct http_server **out, const struct exporter_arg *arg, const struct http_server_options *options,
		struct sonde_err *err)
{
	static const struct http_endpoint open[] = { { "GET", "/metrics", get_metrics, HTTP_OPEN }, REST };
	static const struct http_endpoint closed[] = { { "GET", "/metrics", get_metrics, 0 }, REST };
	struct http_server_options o = *options;

	o.endpoints = o.basic ? closed : open;
	o.arg = (void *)(uintptr_t)arg;
	return http_server_start(out, &o, err);
}

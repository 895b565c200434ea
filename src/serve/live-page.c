#include "serve/live-page.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "serve/page.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int get_root(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	reply->status = 303;
	reply->location = "/live";
	return 0;
}

static int get_file(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	page_reply(http_request_path(r), reply);
	return 0;
}

static void add_sample(void *arg, const char *name, const struct exposition_label *labels, size_t count, double value)
{
	struct json *j = arg;

	json_array(j);
	json_str(j, name);
	json_object(j);
	for (size_t i = 0; i < count; i++)
		json_kstr(j, labels[i].key, labels[i].value);
	json_end(j);
	json_real(j, value);
	json_end(j);
}

static int add_samples(struct json *j, const struct exporter_arg *a, struct sonde_err *err)
{
	const struct live_taker taker = { .parts = LIVE_ALL, .sink = add_sample, .arg = j };
	int rc;

	json_karray(j, "samples");
	rc = live_samples(a->exporter, &taker, err);
	json_end(j);
	return rc;
}

static int get_live(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	const struct exporter_arg *a = arg;
	char host[65] = "";
	struct json j;
	int rc;

	gethostname(host, sizeof(host) - 1);
	json_init(&j, &reply->body, false);
	json_object(&j);
	json_kint(&j, "time_ns", clock_real_ns());
	json_kstr(&j, "version", a->exporter->version);
	json_kstr(&j, "host", host);
	rc = add_samples(&j, a, err);
	json_key(&j, "controller");
	if (a->controller)
		controller_show_rules(a->controller, &j);
	else
		json_null(&j);
	json_key(&j, "journal");
	if (a->controller) {
		controller_show_journal(a->controller, &j);
	} else {
		json_array(&j);
		json_end(&j);
	}
	if (a->history && http_request_arg(r, "history")) {
		json_key(&j, "history");
		live_history_show(a->history, &j);
	}
	json_end(&j);
	return rc;
}

static int post_link(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	const struct exporter_arg *a = arg;

	return page_link(a->pages ? a->pages : http_request_server(r), reply, err);
}

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
			{ "POST", "/on", post_switch, 0 }, { "GET", "/", get_root, HTTP_PAGE }, \
			{ "GET", "/live", get_file, HTTP_PAGE }, { "GET", "/app.js", get_file, 0 }, \
			{ "GET", "/app.css", get_file, 0 }, { "GET", "/api/live", get_live, 0 }, \
			{ "POST", "/api/link", post_link, 0 }, \
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

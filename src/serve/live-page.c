#include "serve/live-page.h"

#include "base/clock.h"
#include "base/json.h"
#include "serve/exporter.h"
#include "serve/page.h"

#include <unistd.h>

int live_page_root(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	reply->status = 303;
	reply->location = "/live";
	return 0;
}

int live_page_file(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
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

	json_key(j, "samples");
	json_array(j);
	rc = live_samples(a->exporter, &taker, err);
	json_end(j);
	return rc;
}

static void add_controller(struct json *j, struct controller *c)
{
	json_key(j, "controller");
	if (c)
		controller_show_rules(c, j);
	else
		json_null(j);
	json_key(j, "journal");
	if (c) {
		controller_show_journal(c, j);
	} else {
		json_array(j);
		json_end(j);
	}
}

int live_page_answer(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
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
	add_controller(&j, a->controller);
	if (a->history && http_request_arg(r, "history")) {
		json_key(&j, "history");
		live_history_show(a->history, &j);
	}
	json_end(&j);
	return rc;
}

int live_page_link(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	const struct exporter_arg *a = arg;

	return page_link(a->pages ? a->pages : http_request_server(r), reply, err);
}

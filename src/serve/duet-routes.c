#include "serve/duet-routes.h"

#include "duet/duet-replay.h"

#include <errno.h>
#include <stdlib.h>

/* The page has inline styles only; nothing else may load. */
static const char page_policy[] =
		"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; "
		"form-action 'none'";

struct duet_server {
	struct http_server *http_server;
	const char *dir;
};

typedef void write_fn(const struct duet_replay *r, struct buf *out);

static int answer(const struct duet_server *s, write_fn *write, struct buf *out, struct sonde_err *err)
{
	struct duet_replay r;
	int rc = duet_replay_open(&r, s->dir, err);

	if (!rc)
		write(&r, out);
	duet_replay_release(&r);
	return rc;
}

static void write_page(const struct duet_replay *r, struct buf *out)
{
	duet_report_html(out, &r->report, r->is_growing);
}

static void write_json(const struct duet_replay *r, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	duet_report_json(&j, &r->report, true);
}

/* Until there is a pair, the page shows the reason and refreshes itself. */
static void write_waiting(struct buf *out, const struct sonde_err *why)
{
	buf_adds(out,
			"<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" "
			"content=\"2\"><title>sonde duet</title></head><body><p>");
	buf_add_html(out, why->text);
	buf_adds(out, ".</p></body></html>\n");
}

static int get_page(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	int rc = answer(arg, write_page, &reply->body, err);

	if (rc == -ENODATA) {
		write_waiting(&reply->body, err);
		rc = 0;
	}
	reply->type = "text/html; charset=utf-8";
	reply->policy = page_policy;
	return rc;
}

static int get_json(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	return answer(arg, write_json, &reply->body, err);
}

static const struct http_endpoint endpoints[] = {
	{ "GET", "/", get_page, HTTP_PAGE },
	{ "GET", "/api/duet", get_json, 0 },
	{ NULL, NULL, NULL, 0 },
};

int duet_server_start(struct duet_server **out, const char *dir, const struct http_server_options *options,
		struct sonde_err *err)
{
	struct duet_server *s = calloc(1, sizeof(*s));
	struct http_server_options o = *options;
	int rc;

	if (!s)
		return err_sys(err, ENOMEM, "cannot serve the comparison");
	s->dir = dir;
	o.endpoints = endpoints;
	o.arg = s;
	rc = http_server_start(&s->http_server, &o, err);
	if (rc < 0) {
		free(s);
		return rc;
	}
	*out = s;
	return 0;
}

struct http_server *duet_http_server(struct duet_server *s)
{
	return s->http_server;
}

void duet_server_stop(struct duet_server *s)
{
	if (!s)
		return;
	http_server_stop(s->http_server);
	free(s);
}

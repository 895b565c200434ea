#include "serve/run-routes.h"

#include "base/clock.h"
#include "base/json.h"
#include "serve/page.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API "/api/"
#define REFRESH_MS 500
#define SQL_ROWS_DEFAULT 1000

struct http {
	struct http_server *http_server;
	struct run_api *run_api, *other;
	pthread_t refresher;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_stopping, has_refresher;
};

int http_get_page(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	page_reply(http_request_path(request), reply);
	return 0;
}

static const char *get_arg(const void *arg, const char *name)
{
	return http_request_arg(arg, name);
}

/* Selects the run that a request refers to. */
static int choose(const struct http *h, const struct http_request *request, struct run_api **run_api,
		struct sonde_err *err)
{
	const char *which = http_request_arg(request, "run");

	*run_api = !which || strcmp(which, "a") == 0 ? h->run_api : strcmp(which, "b") == 0 ? h->other : NULL;
	if (*run_api)
		return 0;
	return err_set(err, ENOENT, "run not found; use 'sonde view --with RUN' to compare two runs");
}

static int get_answer(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	const struct run_api_answer *a = run_api_answer_find(http_request_path(request) + strlen(API));
	struct run_api_query q = { .get = get_arg, .arg = request };
	struct run_api *run_api;
	int rc = choose(arg, request, &run_api, err);

	if (rc < 0)
		return rc;
	reply->type = a->type;
	return run_api_respond(run_api, a, &q, &reply->body, err);
}

/* The body is the SQL statement. */
static int post_sql(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	const struct run_api_query q = { .get = get_arg, .arg = request };
	const struct buf *body = http_request_body(request);
	int64_t rows = SQL_ROWS_DEFAULT;
	struct run_api *run_api;
	int rc = choose(arg, request, &run_api, err);

	if (rc == 0)
		rc = run_api_query_int(&q, "limit", 1, VIEW_LIMIT_MAX, &rows, err);
	if (rc == 0 && (!body->len || strlen(body->data) != body->len))
		rc = err_set(err, EINVAL, "the body must be a statement of SQL");
	return rc < 0 ? rc : run_api_sql(run_api, body->data, rows, &reply->body, err);
}

/* A client of /api/stream gets one event per generation, with whether another one will follow. */
struct listener {
	struct run_api *run_api;
	unsigned generation;
	bool is_last;
};

static int next_news(void *arg, struct buf *out)
{
	struct listener *l = arg;
	struct json j;

	if (l->is_last)
		return -ENODATA;
	if (run_api_generation(l->run_api) == l->generation)
		return 0;
	l->generation = run_api_generation(l->run_api);
	l->is_last = !run_api_is_growing(l->run_api);
	buf_adds(out, "event: run\ndata: ");
	json_init(&j, out, false);
	json_object(&j);
	json_kuint(&j, "generation", l->generation);
	json_kint(&j, "duration_ns", run_api_duration_ns(l->run_api));
	json_kbool(&j, "is_growing", !l->is_last);
	json_end(&j);
	buf_adds(out, "\n\n");
	return 0;
}

static int get_stream(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	const struct http *h = arg;
	struct listener *l = calloc(1, sizeof(*l));

	if (!l)
		return err_sys(err, ENOMEM, "cannot listen");
	l->run_api = h->run_api;
	reply->stream = (struct http_stream){ .next = next_news, .free = free, .arg = l };
	return 0;
}

int http_post_link(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	return page_link(http_request_server(request), reply, err);
}

static const struct http_endpoint endpoints[] = {
	{ "GET", "/", http_get_page, HTTP_PAGE },
	{ "GET", "/cpu-report.html", http_get_page, HTTP_PAGE },
	{ "GET", "/gpu-report.html", http_get_page, HTTP_PAGE },
	{ "GET", "/app.js", http_get_page, 0 },
	{ "GET", "/app.css", http_get_page, 0 },
	{ "GET", API "run", get_answer, 0 },
	{ "GET", API "tracks", get_answer, 0 },
	{ "GET", API "names", get_answer, 0 },
	{ "GET", API "slices", get_answer, 0 },
	{ "GET", API "counters", get_answer, 0 },
	{ "GET", API "event", get_answer, 0 },
	{ "GET", API "search", get_answer, 0 },
	{ "GET", API "stats", get_answer, 0 },
	{ "GET", API "flame", get_answer, 0 },
	{ "GET", API "io", get_answer, 0 },
	{ "GET", API "steps", get_answer, 0 },
	{ "GET", API "summary", get_answer, 0 },
	{ "GET", API "flows", get_answer, 0 },
	{ "GET", API "network", get_answer, 0 },
	{ "GET", API "stream", get_stream, 0 },
	{ "POST", API "link", http_post_link, 0 },
	{ "POST", API "sql", post_sql, 0 },
	{ NULL, NULL, NULL, 0 },
};

static void wait_ms(struct http *h, long ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(&h->wake, &h->lock, &until);
}

/* Reopening a run takes longer the larger it is: sleep nine times as long as it took, to use at most 10 % of the
 * time. */
static void *refresh(void *arg)
{
	struct http *h = arg;

	pthread_mutex_lock(&h->lock);
	while (!h->is_stopping && run_api_is_growing(h->run_api)) {
		int64_t start_ns = clock_mono_ns(), took_ms;
		bool is_new;

		pthread_mutex_unlock(&h->lock);
		run_api_refresh(h->run_api, &is_new, NULL); /* errors may be transient: retried the next time */
		took_ms = (clock_mono_ns() - start_ns) / 1000000;
		pthread_mutex_lock(&h->lock);
		if (!h->is_stopping)
			wait_ms(h, REFRESH_MS + 9 * took_ms);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

int http_start(struct http **out, const struct http_runs *runs, const struct http_server_options *options,
		struct sonde_err *err)
{
	struct http *h = calloc(1, sizeof(*h));
	struct http_server_options o = *options;
	int rc;

	if (!h)
		return err_sys(err, ENOMEM, "cannot serve the run");
	h->run_api = runs->run_api;
	h->other = runs->other;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->wake, NULL);
	o.endpoints = endpoints;
	o.arg = h;
	rc = http_server_start(&h->http_server, &o, err);
	if (rc == 0 && run_api_is_growing(h->run_api)) {
		rc = pthread_create(&h->refresher, NULL, refresh, h);
		h->has_refresher = rc == 0;
		rc = rc ? err_sys(err, rc, "cannot start a thread") : 0;
	}
	if (rc < 0) {
		http_stop(h);
		return rc;
	}
	*out = h;
	return 0;
}

void http_stop(struct http *h)
{
	if (!h)
		return;
	if (h->has_refresher) {
		pthread_mutex_lock(&h->lock);
		h->is_stopping = true;
		pthread_cond_signal(&h->wake);
		pthread_mutex_unlock(&h->lock);
		pthread_join(h->refresher, NULL);
	}
	http_server_stop(h->http_server);
	pthread_cond_destroy(&h->wake);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

struct http_server *run_http_server(struct http *h)
{
	return h->http_server;
}

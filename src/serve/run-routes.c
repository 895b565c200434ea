/* A view behind a guard; see run-routes.h. */
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
	struct guard *guard;
	struct view *view, *other;
	pthread_t refresher;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_stopping, has_refresher;
};

int http_get_page(void *arg, const struct guard_request *request, struct guard_reply *reply, struct sonde_err *err)
{
	page_reply(guard_request_path(request), reply);
	return 0;
}

static const char *get_arg(const void *arg, const char *name)
{
	return guard_request_arg(arg, name);
}

/* The view that a question is about. */
static int choose(const struct http *h, const struct guard_request *request, struct view **view, struct sonde_err *err)
{
	const char *which = guard_request_arg(request, "run");

	*view = !which || strcmp(which, "a") == 0 ? h->view : strcmp(which, "b") == 0 ? h->other : NULL;
	if (*view)
		return 0;
	return err_set(err, ENOENT, "there is no such run here; 'sonde view --with RUN' has one to compare with");
}

static int get_answer(void *arg, const struct guard_request *request, struct guard_reply *reply, struct sonde_err *err)
{
	const struct view_answer *a = view_answer_find(guard_request_path(request) + strlen(API));
	struct view_query q = { .get = get_arg, .arg = request };
	struct view *view;
	int rc = choose(arg, request, &view, err);

	if (rc < 0)
		return rc;
	reply->type = a->type;
	return view_ask(view, a, &q, &reply->body, err);
}

/* The body is the statement. */
static int post_sql(void *arg, const struct guard_request *request, struct guard_reply *reply, struct sonde_err *err)
{
	const struct view_query q = { .get = get_arg, .arg = request };
	const struct buf *body = guard_request_body(request);
	int64_t rows = SQL_ROWS_DEFAULT;
	struct view *view;
	int rc = choose(arg, request, &view, err);

	if (rc == 0)
		rc = view_query_int(&q, "limit", 1, VIEW_LIMIT_MAX, &rows, err);
	if (rc == 0 && (!body->len || strlen(body->data) != body->len))
		rc = err_set(err, EINVAL, "the body must be a statement of SQL");
	return rc < 0 ? rc : view_sql(view, body->data, rows, &reply->body, err);
}

/* A listener hears of each generation once, and whether there will be another. */
struct listener {
	struct view *view;
	unsigned generation;
	bool is_last;
};

static int next_news(void *arg, struct buf *out)
{
	struct listener *l = arg;
	struct json j;

	if (l->is_last)
		return -ENODATA;
	if (view_generation(l->view) == l->generation)
		return 0;
	l->generation = view_generation(l->view);
	l->is_last = !view_is_growing(l->view);
	buf_adds(out, "event: run\ndata: ");
	json_init(&j, out, false);
	json_object(&j);
	json_kuint(&j, "generation", l->generation);
	json_kint(&j, "duration_ns", view_duration_ns(l->view));
	json_kbool(&j, "is_growing", !l->is_last);
	json_end(&j);
	buf_adds(out, "\n\n");
	return 0;
}

static int get_stream(void *arg, const struct guard_request *request, struct guard_reply *reply, struct sonde_err *err)
{
	const struct http *h = arg;
	struct listener *l = calloc(1, sizeof(*l));

	if (!l)
		return err_sys(err, ENOMEM, "cannot listen");
	l->view = h->view;
	reply->stream = (struct guard_stream){ .next = next_news, .free = free, .arg = l };
	return 0;
}

int http_post_link(void *arg, const struct guard_request *request, struct guard_reply *reply, struct sonde_err *err)
{
	return page_link(guard_request_guard(request), reply, err);
}

static const struct guard_endpoint endpoints[] = {
	{ "GET", "/", http_get_page, GUARD_PAGE },
	{ "GET", "/cpu-report.html", http_get_page, GUARD_PAGE },
	{ "GET", "/gpu-report.html", http_get_page, GUARD_PAGE },
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

/* Opening a run anew takes the longer the larger it is: after each time, nine times as long is left alone. */
static void *refresh(void *arg)
{
	struct http *h = arg;

	pthread_mutex_lock(&h->lock);
	while (!h->is_stopping && view_is_growing(h->view)) {
		int64_t start_ns = clock_mono_ns(), took_ms;
		bool is_new;

		pthread_mutex_unlock(&h->lock);
		view_refresh(h->view, &is_new, NULL); /* what fails now may be readable the next time */
		took_ms = (clock_mono_ns() - start_ns) / 1000000;
		pthread_mutex_lock(&h->lock);
		if (!h->is_stopping)
			wait_ms(h, REFRESH_MS + 9 * took_ms);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

int http_start(struct http **out, const struct http_runs *runs, const struct guard_options *options,
		struct sonde_err *err)
{
	struct http *h = calloc(1, sizeof(*h));
	struct guard_options o = *options;
	int rc;

	if (!h)
		return err_sys(err, ENOMEM, "cannot serve the run");
	h->view = runs->view;
	h->other = runs->other;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->wake, NULL);
	o.endpoints = endpoints;
	o.arg = h;
	rc = guard_start(&h->guard, &o, err);
	if (rc == 0 && view_is_growing(h->view)) {
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
	guard_stop(h->guard);
	pthread_cond_destroy(&h->wake);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

struct guard *http_guard(struct http *h)
{
	return h->guard;
}

#include <jansson.h>

#include "serve/run-routes.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "duet/duet-replay.h"
#include "serve/page.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

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

/* For other endpoint tables: the page and its files; a link for another browser. */
static int get_page_file(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
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

static int post_link(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	return page_link(http_request_server(request), reply, err);
}

static const struct http_endpoint run_endpoints[] = {
	{ "GET", "/", get_page_file, HTTP_PAGE },
	{ "GET", "/cpu-report.html", get_page_file, HTTP_PAGE },
	{ "GET", "/gpu-report.html", get_page_file, HTTP_PAGE },
	{ "GET", "/app.js", get_page_file, 0 },
	{ "GET", "/app.css", get_page_file, 0 },
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
	{ "POST", API "link", post_link, 0 },
	{ "POST", API "sql", post_sql, 0 },
	{ NULL, NULL, NULL, 0 },
};

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
		if (!h->is_stopping) {
			struct timespec until;

			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_nsec += (REFRESH_MS + 9 * took_ms) * 1000000L;
			until.tv_sec += until.tv_nsec / 1000000000L;
			until.tv_nsec %= 1000000000L;
			pthread_cond_timedwait(&h->wake, &h->lock, &until);
		}
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
	o.endpoints = run_endpoints;
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

static int get_page(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	int rc = answer(arg, write_page, &reply->body, err);

	if (rc == -ENODATA) {
		/* Until there is a pair, the page shows the reason and refreshes itself. */
		buf_adds(&reply->body,
				"<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">"
				"<meta http-equiv=\"refresh\" content=\"2\"><title>sonde duet</title></head><body><p>");
		buf_add_html(&reply->body, err->text);
		buf_adds(&reply->body, ".</p></body></html>\n");
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

static const struct http_endpoint duet_endpoints[] = {
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
	o.endpoints = duet_endpoints;
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

#define RESULT_BYTES_MAX ((size_t)64 << 20)

static bool has_file(const char *dir, const char *name)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	buf_addf(&path, "%s/%s", dir, name);
	return buf_error(&path) == 0 && access(path.data, R_OK) == 0;
}

bool study_is_there(const char *dir)
{
	return has_file(dir, "journal.jsonl") && has_file(dir, "result.json");
}

static int get_root(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	reply->status = 303;
	reply->location = "/study"; /* a separate path: the page knows from it what is served */
	return 0;
}

static int get_study(void *arg, const struct http_request *request, struct http_reply *reply, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	const char *dir = arg;

	buf_addf(&path, "%s/result.json", dir);
	return fs_read_file(AT_FDCWD, path.data, RESULT_BYTES_MAX, &reply->body, err);
}

static const struct http_endpoint study_endpoints[] = {
	{ "GET", "/", get_root, HTTP_PAGE },
	{ "GET", "/study", get_page_file, HTTP_PAGE },
	{ "GET", "/app.js", get_page_file, 0 },
	{ "GET", "/app.css", get_page_file, 0 },
	{ "GET", "/api/study", get_study, 0 },
	{ "POST", "/api/link", post_link, 0 },
	{ NULL, NULL, NULL, 0 },
};

int study_start(struct http_server **out, const char *dir, const struct http_server_options *options,
		struct sonde_err *err)
{
	struct http_server_options o = *options;

	o.endpoints = study_endpoints;
	o.arg = (void *)(uintptr_t)dir;
	return http_server_start(out, &o, err);
}

/* Requests the address of the page of a running `sonde live` over its control socket. */

#define ANSWER_SECONDS 10
#define ANSWER_BYTES_MAX 65536

static int connect_to(const char *path, struct sonde_err *err)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	int fd;

	if (strlen(path) >= sizeof(to.sun_path))
		return err_set(err, ENAMETOOLONG, "'%s' is too long for a socket", path);
	memcpy(to.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		return fd;
	}
	err_sys(err, errno, "cannot reach the control socket '%s'", path);
	err_hint(err, "it is that of a running 'sonde live --control SOCKET'");
	if (fd >= 0)
		close(fd);
	return -EIO;
}

/* Reads until the peer closes the connection, which ends an HTTP/1.0 response. */
static int request_link(int fd, struct buf *answer, struct sonde_err *err)
{
	static const char request[] = "POST /api/link HTTP/1.0\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
	char part[4096];
	ssize_t n = send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL);

	if (n == (ssize_t)sizeof(request) - 1)
		while ((n = recv(fd, part, sizeof(part), 0)) > 0 && answer->len < ANSWER_BYTES_MAX)
			buf_add(answer, part, (size_t)n);
	return n < 0 ? err_sys(err, errno, "no response from the control socket") : 0;
}

int live_page_find(const char *socket, struct buf *url, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = connect_to(socket, err);
	CLEANUP(buf_release) struct buf answer = BUF_INIT;
	const char *body, *text;
	json_t *said;
	int rc = fd < 0 ? fd : request_link(fd, &answer, err);

	if (rc < 0)
		return rc;
	body = strstr(answer.data, "\r\n\r\n");
	said = body ? json_loads(body + 4, 0, NULL) : NULL;
	text = json_string_value(json_object_get(said, "url"));
	if (text)
		buf_adds(url, text);
	else
		rc = err_set(err, EPROTO, "the server at '%s' is not a sonde live with a page: %.80s", socket,
				answer.data);
	json_decref(said);
	return rc;
}

/*
 * A thread that checks every connection four times a second: it shuts down connections that take too long to send a
 * request or to read a response, and resumes suspended streams. libmicrohttpd's own timeout restarts with each byte,
 * so it cannot do this.
 */
#include "serve/http-server-private.h"

#include "base/clock.h"

#include <stdlib.h>
#include <time.h>

#define NS_PER_SECOND ((int64_t)1000000000)

static int64_t limit_ns(const struct http_connection *line)
{
	switch (line->state) {
	case HTTP_WAITS:
		return line->http_server->options.request_seconds * NS_PER_SECOND;
	case HTTP_ANSWERS:
		return HTTP_REPLY_SECONDS * NS_PER_SECOND;
	default:
		return INT64_MAX;
	}
}

static void look_at(struct http_connection *line, int64_t now_ns)
{
	if (now_ns - line->since_ns > limit_ns(line)) {
		shutdown(line->fd, SHUT_RDWR); /* the daemon detects this and closes the connection */
		line->state = HTTP_CUT;
	}
	if (line->is_suspended) {
		line->is_suspended = false;
		MHD_resume_connection(line->connection);
	}
}

static void look_at_all(struct http_server *g)
{
	int64_t now_ns = clock_mono_ns();

	for (struct http_connection *line = g->lines; line; line = line->next)
		look_at(line, now_ns);
}

static void *watch(void *arg)
{
	struct http_server *g = arg;
	struct timespec until;

	pthread_mutex_lock(&g->lock);
	while (!g->is_stopping) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += HTTP_TICK_MS * 1000000L;
		if (until.tv_nsec >= NS_PER_SECOND) {
			until.tv_nsec -= NS_PER_SECOND;
			until.tv_sec++;
		}
		pthread_cond_timedwait(&g->wake, &g->lock, &until);
		look_at_all(g);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

int http_watch_start(struct http_server *g, struct sonde_err *err)
{
	pthread_condattr_t attr;
	int rc;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&g->wake, &attr);
	pthread_condattr_destroy(&attr);
	rc = pthread_create(&g->watch, NULL, watch, g);
	if (rc)
		return err_sys(err, rc, "cannot start a thread");
	g->has_watch = true;
	return 0;
}

void http_watch_stop(struct http_server *g)
{
	if (!g->has_watch)
		return;
	pthread_mutex_lock(&g->lock);
	g->is_stopping = true;
	pthread_cond_signal(&g->wake);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->watch, NULL);
	pthread_cond_destroy(&g->wake);
	g->has_watch = false;
}

void http_connection_state(struct http_connection *line, int state)
{
	if (!line)
		return;
	pthread_mutex_lock(&line->http_server->lock);
	if (line->state != HTTP_CUT)
		line->state = state;
	line->since_ns = clock_mono_ns();
	pthread_mutex_unlock(&line->http_server->lock);
}

static void add(struct http_server *g, struct MHD_Connection *c, void **place)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http_connection *line = info ? calloc(1, sizeof(*line)) : NULL;

	if (!line)
		return;
	*line = (struct http_connection){ .http_server = g,
		.connection = c,
		.fd = info->connect_fd,
		.since_ns = clock_mono_ns() };
	pthread_mutex_lock(&g->lock);
	line->next = g->lines;
	line->place = &g->lines;
	if (line->next)
		line->next->place = &line->next;
	g->lines = line;
	pthread_mutex_unlock(&g->lock);
	*place = line;
}

static void drop(struct http_server *g, struct http_connection *line)
{
	pthread_mutex_lock(&g->lock);
	*line->place = line->next;
	if (line->next)
		line->next->place = line->place;
	pthread_mutex_unlock(&g->lock);
	free(line);
}

void http_notify_connection(void *arg, struct MHD_Connection *c, void **place, enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		add(arg, c, place);
	else if (*place)
		drop(arg, *place);
}

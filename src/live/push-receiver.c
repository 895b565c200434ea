/* One thread, which sleeps without traffic; a disconnected client uses no resources. */
#include "live/push-receiver.h"

#include "live/proc-metrics.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

void pushed_text_init(struct pushed_text *t)
{
	*t = (struct pushed_text){ .metric_count = 0 };
	buf_init(&t->text, 2 * PUSHED_MESSAGE_BYTES_MAX);
}

void pushed_text_release(struct pushed_text *t)
{
	buf_release(&t->text);
}

static void set_metric(struct pushed_text *t, const char *name, const json_t *value)
{
	double number = json_number_value(value);
	size_t i = 0;

	while (i < t->metric_count && strcmp(t->metrics[i].name, name) != 0)
		i++;
	if (!json_is_number(value) || !isfinite(number) || i == PUSHED_METRICS_MAX ||
			strlen(name) >= SONDE_NAME_BYTES) {
		t->rejected++;
		return;
	}
	if (i == t->metric_count) {
		snprintf(t->metrics[i].name, sizeof(t->metrics[i].name), "%s", name);
		t->metric_count++;
	}
	t->metrics[i].value = number;
}

/*
 * Splits the text into messages, independent of read boundaries. The first `known` bytes were searched before and
 * contain no end of a message, except that their last byte may start one.
 */
static void split_text(struct pushed_text *t, size_t known)
{
	char *from = t->text.data, *look = from + (known ? known - 1 : 0), *end;

	while ((end = strstr(look, "\n\n"))) {
		const size_t flags = JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES;
		json_t *root = json_loadb(from, (size_t)(end - from), flags, NULL), *value;
		const char *name;

		if (!json_is_object(root))
			t->rejected++;
		json_object_foreach(root, name, value)
			set_metric(t, name, json_object_get(value, "value"));
		json_decref(root);
		from = look = end + 2;
	}
	t->text.len -= (size_t)(from - t->text.data);
	memmove(t->text.data, from, t->text.len + 1);
}

bool pushed_text_add(struct pushed_text *t, const char *bytes, size_t n)
{
	size_t before = t->text.len;

	if (before + n > PUSHED_MESSAGE_BYTES_MAX)
		return false;
	buf_add(&t->text, bytes, n);
	for (size_t i = before; i < t->text.len; i++)
		if (!t->text.data[i])
			t->text.data[i] = '?'; /* a NUL is not valid JSON either */
	split_text(t, before);
	return true;
}

#define CLIENTS_MAX 64
#define READ_BYTES 16384

struct client {
	int fd;
	char app[LIVE_NAME_BYTES];
	struct pushed_text said;
};

struct live_pushed {
	int fd, ends[2];
	char path[108];
	pthread_t thread;
	pthread_mutex_t lock; /* protects the clients */
	struct client *clients[CLIENTS_MAX];
	size_t client_count;
};

static void name_client(struct client *c)
{
	char id[LIVE_CONTAINER_BYTES];
	struct ucred who = { .pid = 0 };
	socklen_t n = sizeof(who);
	struct live_process p;

	getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &who, &n);
	live_container_of(who.pid, id, sizeof(id), c->app, sizeof(c->app));
	if (*c->app)
		return;
	if (*id)
		snprintf(c->app, sizeof(c->app), "%.12s", id);
	else if (live_process_read(&p, who.pid, INT64_MAX) == 0)
		snprintf(c->app, sizeof(c->app), "%s", p.name);
	else
		snprintf(c->app, sizeof(c->app), "unknown");
}

/* False: it has disconnected, or its message exceeds the limit. */
static bool hear(struct client *c)
{
	char bytes[READ_BYTES];
	ssize_t n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	return n > 0 && pushed_text_add(&c->said, bytes, (size_t)n);
}

static void drop_client(struct live_pushed *p, size_t i)
{
	close(p->clients[i]->fd);
	pushed_text_release(&p->clients[i]->said);
	free(p->clients[i]);
	p->clients[i] = p->clients[--p->client_count];
}

static void add_client(struct live_pushed *p)
{
	int fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC);
	struct client *c = fd < 0 || p->client_count == CLIENTS_MAX ? NULL : calloc(1, sizeof(*c));

	if (!c) {
		if (fd >= 0)
			close(fd);
		return;
	}
	c->fd = fd;
	pushed_text_init(&c->said);
	name_client(c);
	p->clients[p->client_count++] = c;
}

static void *work(void *arg)
{
	struct live_pushed *p = arg;
	struct pollfd fds[CLIENTS_MAX + 2];

	for (;;) {
		size_t count = p->client_count;

		fds[0] = (struct pollfd){ .fd = p->ends[0], .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = p->fd, .events = POLLIN };
		for (size_t i = 0; i < count; i++)
			fds[2 + i] = (struct pollfd){ .fd = p->clients[i]->fd, .events = POLLIN };
		if (poll(fds, 2 + count, -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[0].revents)
			return NULL;
		pthread_mutex_lock(&p->lock);
		for (size_t i = count; i-- > 0;)
			if (fds[2 + i].revents && !hear(p->clients[i]))
				drop_client(p, i);
		if (fds[1].revents)
			add_client(p);
		pthread_mutex_unlock(&p->lock);
	}
}

static int listen_at(const char *path, struct sonde_err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int rc, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;
	mode_t mask;

	if (fd < 0 || strlen(path) >= sizeof(at.sun_path)) {
		if (fd >= 0)
			close(fd);
		return err_sys(err, fd < 0 ? errno : ENAMETOOLONG, "cannot listen at '%s'", path);
	}
	memcpy(at.sun_path, path, strlen(path) + 1);
	/* connect to a regular file is refused too: remove only a socket without a server. */
	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 &&
			errno == ECONNREFUSED)
		unlink(path);
	close(fd);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	mask = umask(0177); /* set before bind, so that other users cannot connect in between */
	rc = fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, CLIENTS_MAX) < 0 ? -errno : 0;
	umask(mask);
	if (rc == 0)
		return fd;
	err_sys(err, -rc, "cannot listen at '%s'", path);
	if (fd >= 0)
		close(fd);
	return -EADDRINUSE;
}

int live_pushed_start(struct live_pushed **out, const char *path, struct sonde_err *err)
{
	struct live_pushed *p;
	int rc;

	*out = NULL;
	if (!path)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return err_sys(err, ENOMEM, "cannot listen at '%s'", path);
	p->fd = listen_at(path, err);
	rc = p->fd < 0 ? p->fd : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p->ends) ? -errno : 0;
	snprintf(p->path, sizeof(p->path), "%s", path);
	pthread_mutex_init(&p->lock, NULL);
	if (rc == 0)
		rc = -pthread_create(&p->thread, NULL, work, p);
	if (rc < 0) {
		if (p->fd >= 0)
			close(p->fd);
		free(p);
		return rc == -EADDRINUSE ? rc : err_sys(err, -rc, "cannot listen at '%s'", path);
	}
	*out = p;
	return 0;
}

void live_pushed_free(struct live_pushed *p)
{
	if (!p)
		return;
	close(p->ends[1]);
	pthread_join(p->thread, NULL);
	while (p->client_count)
		drop_client(p, p->client_count - 1);
	close(p->ends[0]);
	close(p->fd);
	unlink(p->path);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

int live_pushed_add(struct live_pushed *p, struct live_scan *s, size_t series_max)
{
	int rc = 0;

	if (!p)
		return 0;
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->client_count && rc == 0; i++) {
		const struct client *c = p->clients[i];

		rc = live_scan_rejected(s, c->app, c->said.rejected);
		for (size_t k = 0; k < c->said.metric_count && rc == 0; k++)
			rc = live_scan_gauge(s, series_max, c->app, c->said.metrics[k].name, c->said.metrics[k].value);
	}
	pthread_mutex_unlock(&p->lock);
	return rc;
}

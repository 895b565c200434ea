/* OASIS MQTT 3.1.1. */
#include "launch/mqtt.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum packet { CONNECT = 0x10, CONNACK = 0x20, PUBLISH = 0x30, PUBACK = 0x40, DISCONNECT = 0xe0 };

static void add_text(struct buf *out, const char *text)
{
	size_t n = strlen(text);

	buf_addc(out, (char)(n >> 8));
	buf_addc(out, (char)n);
	buf_add(out, text, n);
}

static void add_packet(struct buf *out, unsigned head, const struct buf *rest)
{
	buf_addc(out, (char)head);
	size_t n = rest->len;
	for (; n >= 0x80; n >>= 7)
		buf_addc(out, (char)(n | 0x80));
	buf_addc(out, (char)n);
	buf_add(out, rest->data, rest->len);
}

static void connect_packet(struct buf *out, const char *client)
{
	static const char clean_session = 2, keep_alive[2] = { 0, 60 };
	CLEANUP(buf_release) struct buf rest = BUF_INIT;

	add_text(&rest, "MQTT");
	buf_addc(&rest, 4); /* protocol level */
	buf_addc(&rest, clean_session);
	buf_add(&rest, keep_alive, sizeof(keep_alive));
	add_text(&rest, client);
	add_packet(out, CONNECT, &rest);
}

static void publish_packet(struct buf *out, const struct mqtt_message *m, unsigned id)
{
	CLEANUP(buf_release) struct buf rest = BUF_INIT;

	add_text(&rest, m->topic);
	if (m->qos) {
		buf_addc(&rest, (char)(id >> 8));
		buf_addc(&rest, (char)id);
	}
	buf_add(&rest, m->body, m->bytes);
	add_packet(out, PUBLISH | (unsigned)m->qos << 1, &rest);
}

static int reach(const struct mqtt_message *m, struct sonde_err *err)
{
	const char *colon = strrchr(m->broker, ':');
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL;
	struct timeval limit = { .tv_sec = m->timeout };
	char host[256];
	int fd = -1, rc;

	snprintf(host, sizeof(host), "%.*s", (int)(colon ? colon - m->broker : 0), m->broker);
	rc = getaddrinfo(host, colon ? colon + 1 : "1883", &hints, &all);
	if (rc)
		return err_set(err, EHOSTUNREACH, "cannot find the broker '%s': %s", host, gai_strerror(rc));
	for (struct addrinfo *a = all; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		if (connect(fd, a->ai_addr, a->ai_addrlen)) {
			rc = errno;
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(all);
	return fd < 0 ? err_sys(err, rc ? rc : EHOSTUNREACH, "cannot reach the broker '%s'", m->broker) : fd;
}

/* Reads four bytes and checks the packet type. */
static int expect(int fd, enum packet kind, unsigned char got[4], struct sonde_err *err)
{
	size_t n = 0;

	while (n < 4) {
		ssize_t more = recv(fd, got + n, 4 - n, 0);

		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			return err_sys(err, more < 0 ? errno : ECONNRESET, "no response from the broker");
		n += (size_t)more;
	}
	return (got[0] & 0xf0) == kind && got[1] == 2 ? 0
						      : err_set(err, EPROTO, "the broker does not speak MQTT 3.1.1");
}

int mqtt_publish(const struct mqtt_message *m, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	CLEANUP(cleanup_fd) int fd = reach(m, err);
	unsigned char got[4];
	char client[24];
	int rc = fd < 0 ? fd : 0;

	snprintf(client, sizeof(client), "sonde-%d", (int)getpid());
	connect_packet(&out, client);
	if (rc == 0)
		rc = fs_write_all(fd, out.data, out.len);
	if (rc == 0)
		rc = expect(fd, CONNACK, got, err);
	if (rc == 0 && got[3])
		rc = err_set(err, EACCES, "the broker refuses us (%d)", got[3]);
	buf_reset(&out);
	publish_packet(&out, m, 1);
	if (rc == 0)
		rc = fs_write_all(fd, out.data, out.len);
	if (rc == 0 && m->qos)
		rc = expect(fd, PUBACK, got, err);
	if (rc == 0)
		rc = fs_write_all(fd, (const char[]){ (char)DISCONNECT, 0 }, 2);
	return rc < 0 && err && !*err->text ? err_sys(err, -rc, "cannot speak to the broker") : rc;
}

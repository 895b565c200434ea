/*
 * transfer: the request that a helper gets and the answer that is read back; the helper itself against a server of this
 * test, and MQTT's packets against a broker of this test. Both serve one connection in a thread.
 */
#include "../support.h"

#include "base/fs.h"
#include "launch/mqtt.h"
#include "launch/transfer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[64];

int __wrap_fs_prefix(struct buf *out, struct sonde_err *err); /* NOLINT: the linker's name */
int __wrap_fs_prefix(struct buf *out, struct sonde_err *err)  /* NOLINT: the linker's name */
{
	(void)err;
	buf_adds(out, scratch);
	return 0;
}

static int set_up(void **state)
{
	snprintf(scratch, sizeof(scratch), "/tmp/sonde-transfer-XXXXXX");
	assert_non_null(mkdtemp(scratch));
	assert_int_equal(chdir(scratch), 0);
	return fs_mkdir_p("libexec/sonde", 0700, NULL);
}

static int tear_down(void **state)
{
	assert_int_equal(chdir("/"), 0);
	return fs_remove_tree(AT_FDCWD, scratch);
}

static const char *contents(const char *path)
{
	static struct buf text = BUF_INIT;

	buf_reset(&text);
	return fs_read_file(AT_FDCWD, path, 1 << 20, &text, NULL) < 0 ? "" : text.data;
}

static void answers_are_parsed(void **state)
{
	struct transfer_answer a;

	assert_int_equal(transfer_parse("{\"status\":206,\"bytes\":5,\"whole\":9}", &a), 0);
	assert_int_equal(a.status, 206);
	assert_int_equal(a.bytes, 5);
	assert_int_equal(a.whole, 9);
	assert_string_equal(a.error, "");
	assert_int_equal(transfer_parse("{\"status\":0,\"error\":\"no route\"}", &a), 0);
	assert_int_equal(a.whole, -1);
	assert_string_equal(a.error, "no route");
	assert_int_equal(transfer_parse("{\"stat", &a), -EBADMSG);
	assert_int_equal(a.status, 0);
	assert_string_equal(a.error, "the transfer was cut short");
}

static int run(const char *request, struct transfer_answer *a, struct sonde_err *err)
{
	struct buf text = BUF_INIT;
	int rc;

	*err = (struct sonde_err)SONDE_ERR_INIT;
	buf_adds(&text, request);
	rc = transfer_run(&text, a, err);
	buf_release(&text);
	return rc;
}

static void helper(const char *script)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "#!/bin/sh\n%s", script);
	assert_int_equal(fs_replace_file(AT_FDCWD, "libexec/sonde/sonde-transfer", text.data, text.len, NULL), 0);
	assert_int_equal(chmod("libexec/sonde/sonde-transfer", 0700), 0);
	buf_release(&text);
}

static void the_helper_gets_the_request(void **state)
{
	struct transfer_answer a;
	struct sonde_err err;

	helper("cat >request; echo '{\"status\":404,\"bytes\":1}'; exit 1\n");
	assert_int_equal(run("GET http://x\n\nbody", &a, &err), 0); /* an answer, whatever its status */
	assert_int_equal(a.status, 404);
	assert_string_equal(contents("request"), "GET http://x\n\nbody");
	helper("echo '{\"status\":0,\"error\":\"refused\"}'\n");
	assert_int_equal(run("GET http://x\n\n", &a, &err), -EIO);
	assert_string_equal(err.text, "refused");
	helper("exit 3\n");
	assert_int_equal(run("GET http://x\n\n", &a, &err), -EIO);
	assert_string_equal(err.text, "the transfer was cut short");
	helper("echo '{\"status\":0}'\n");
	assert_int_equal(run("GET http://x\n\n", &a, &err), -EIO);
	assert_string_equal(err.text, "no response");
	unlink("libexec/sonde/sonde-transfer");
	assert_int_equal(run("GET http://x\n\n", &a, &err), -ENOENT);
}

/* A server of one connection: sends `answers` in turn, one after each part that it reads up to `ends`. */

struct server {
	int fd, port;
	const char *answers[3];
	size_t sizes[3];
	size_t waits[3]; /* bytes to read before each answer; 0: up to an empty line */
	struct buf heard;
	pthread_t thread;
};

static void *serve(void *arg)
{
	struct server *s = arg;
	int fd = accept(s->fd, NULL, NULL);
	char bytes[4096];
	ssize_t n = 1;

	for (size_t i = 0; i < 3 && s->answers[i] && n > 0; i++) {
		size_t from = s->heard.len;

		while ((s->waits[i] ? s->heard.len - from < s->waits[i] : !strstr(s->heard.data, "\r\n\r\n")) &&
				(n = read(fd, bytes, sizeof(bytes))) > 0)
			buf_add(&s->heard, bytes, (size_t)n);
		if (n > 0 && write(fd, s->answers[i], s->sizes[i]) < 0)
			n = 0;
	}
	shutdown(fd, SHUT_WR);
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		buf_add(&s->heard, bytes, (size_t)n);
	close(fd);
	return NULL;
}

static void start(struct server *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(at);

	buf_init(&s->heard, 0);
	s->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(s->fd, 1), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &size), 0);
	s->port = ntohs(at.sin_port);
	for (size_t i = 0; i < 3 && s->answers[i]; i++)
		s->sizes[i] = s->sizes[i] ? s->sizes[i] : strlen(s->answers[i]);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void stop(struct server *s)
{
	pthread_join(s->thread, NULL);
	close(s->fd);
}

/* MQTT. */

static int publish(struct server *s, int qos, const char *topic, struct sonde_err *err)
{
	struct mqtt_message m = { .topic = topic, .body = "body", .bytes = 4, .qos = qos, .timeout = 10 };
	char broker[32];
	int rc;

	*err = (struct sonde_err)SONDE_ERR_INIT;
	start(s);
	snprintf(broker, sizeof(broker), "127.0.0.1:%d", s->port);
	m.broker = broker;
	rc = mqtt_publish(&m, err);
	stop(s);
	return rc;
}

static void messages_are_published(void **state)
{
	static const char head[] = "\x00\x04MQTT\x04\x02\x00\x3c";
	struct server s = { .answers = { "\x20\x02\x00\x00",
					    "\x40\x02\x00\x0"
					    "1" },
		.sizes = { 4, 4 },
		.waits = { 1, 1 } };
	struct sonde_err err;
	size_t first;

	assert_int_equal(publish(&s, 1, "a/b", &err), 0);
	assert_int_equal(s.heard.data[0], 0x10);
	first = 2 + (size_t)s.heard.data[1];
	assert_memory_equal(s.heard.data + 2, head, 10);
	assert_memory_equal(s.heard.data + 14, "sonde-", 6);
	/* PUBLISH with QoS 1: topic, packet id 1, body; then DISCONNECT. */
	assert_int_equal(s.heard.len, first + 2 + 11 + 2);
	assert_memory_equal(s.heard.data + first,
			"\x32\x0b\x00\x03"
			"a/b\x00\x01"
			"body\xe0\x00",
			15);
	buf_release(&s.heard);
	s.answers[1] = NULL;
	assert_int_equal(publish(&s, 0, "a/b", &err), 0);
	assert_memory_equal(s.heard.data + s.heard.len - 13,
			"\x30\x09\x00\x03"
			"a/bbody\xe0\x00",
			13);
	buf_release(&s.heard);
}

static void brokers_refuse(void **state)
{
	struct server s = { .answers = { "\x20\x02\x00\x05" }, .sizes = { 4 }, .waits = { 1 } };
	struct mqtt_message nobody = { .broker = "127.0.0.1:1", .topic = "t", .body = "", .timeout = 5 };
	struct sonde_err err;

	assert_int_equal(publish(&s, 0, "t", &err), -EACCES);
	assert_string_equal(err.text, "the broker refuses us (5)");
	buf_release(&s.heard);
	s.answers[0] = "HTTP";
	assert_int_equal(publish(&s, 0, "t", &err), -EPROTO);
	assert_string_equal(err.text, "the broker does not speak MQTT 3.1.1");
	buf_release(&s.heard);
	s.answers[0] = "\x20\x02";
	s.sizes[0] = 2;
	assert_int_equal(publish(&s, 0, "t", &err), -ECONNRESET);
	buf_release(&s.heard);
	assert_int_equal(mqtt_publish(&nobody, &err), -ECONNREFUSED);
	assert_non_null(strstr(err.text, "cannot reach the broker '127.0.0.1:1': "));
}

/* The helper itself. */

static void request(struct server *s, const char *method, const char *rest, struct transfer_answer *a)
{
	struct sonde_err err;
	char text[500];

	start(s);
	snprintf(text, sizeof(text), "%s http://127.0.0.1:%d/path\n%s", method, s->port, rest);
	if (run(text, a, &err) < 0)
		fail_msg("%s", err.text);
	stop(s);
}

static void requests_are_made(void **state)
{
	const char *program = getenv("SONDE_TEST_TRANSFER");
	struct server s = { .answers = { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello" } };
	struct transfer_answer a;

	if (!program) {
		print_message("sonde-transfer is not built\n");
		skip();
	}
	assert_int_equal(symlink(program, "libexec/sonde/sonde-transfer"), 0);
	request(&s, "GET", "header X-Test: yes\noutput file\n\n", &a);
	assert_int_equal(a.status, 200);
	assert_int_equal(a.bytes, 5);
	assert_int_equal(a.whole, 5);
	assert_string_equal(a.error, "");
	assert_string_equal(contents("file"), "hello");
	assert_true(strncmp(s.heard.data, "GET /path HTTP/1.1\r\n", 20) == 0);
	assert_non_null(strstr(s.heard.data, "\r\nX-Test: yes\r\n"));
	buf_release(&s.heard);
	/* The rest of a file: only a matching range is appended. */
	s.answers[0] = "HTTP/1.1 206 Partial\r\nContent-Range: bytes 5-6/7\r\nContent-Length: 2\r\nConnection: "
		       "close\r\n\r\n!!";
	s.sizes[0] = 0;
	request(&s, "GET", "output file\nfrom 5\n\n", &a);
	assert_int_equal(a.status, 206);
	assert_int_equal(a.whole, 7);
	assert_string_equal(contents("file"), "hello!!");
	assert_non_null(strstr(s.heard.data, "\r\nRange: bytes=5-\r\n"));
	buf_release(&s.heard);
	/* The text of an error is not data. */
	s.answers[0] = "HTTP/1.1 404 No\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope";
	s.sizes[0] = 0;
	request(&s, "GET", "output other\n\n", &a);
	assert_int_equal(a.status, 404);
	assert_int_equal(a.bytes, 0);
	assert_string_equal(contents("other"), "");
	buf_release(&s.heard);
	/* Cut within the body. */
	s.answers[0] = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\nhello";
	s.sizes[0] = 0;
	request(&s, "GET", "output cut\n\n", &a);
	assert_int_equal(a.status, 200);
	assert_int_equal(a.whole, 50);
	assert_int_equal(a.bytes, 5);
	assert_true(strlen(a.error) > 0);
	buf_release(&s.heard);
	s.answers[0] = "HTTP/1.1 201 Made\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	s.sizes[0] = 0;
	request(&s, "PUT", "\nsent body", &a);
	assert_int_equal(a.status, 201);
	assert_true(strncmp(s.heard.data, "PUT /path HTTP/1.1\r\n", 20) == 0);
	assert_non_null(strstr(s.heard.data, "\r\nContent-Length: 9\r\n"));
	assert_string_equal(strstr(s.heard.data, "\r\n\r\n") + 4, "sent body");
	buf_release(&s.heard);
}

#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_parsed),
		IN_SCRATCH(the_helper_gets_the_request),
		cmocka_unit_test(messages_are_published),
		cmocka_unit_test(brokers_refuse),
		IN_SCRATCH(requests_are_made),
	};

	return RUN_TESTS(tests);
}

/* The door: who gets in, what is refused, and that nobody can hold it open. */
#include "support.h"

#include "base/buf.h"
#include "base/clock.h"
#include "serve/http-server.h"
#include "serve/run-api.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_MS 60000 /* before a test gives up; far beyond what is needed */

static const char *get_arg(const void *arg, const char *name)
{
	return http_request_arg(arg, name);
}

static int get_hello(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	struct run_api_query q = { .get = get_arg, .arg = r };
	int64_t times = 1;
	int rc = run_api_query_int(&q, "times", 1, 10000, &times, err);

	reply->type = "text/plain";
	for (int64_t i = 0; rc == 0 && i < times; i++)
		buf_adds(&reply->body, "hello ");
	return rc;
}

static int post_echo(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	buf_add(&reply->body, http_request_body(r)->data, http_request_body(r)->len);
	return 0;
}

static int next_count(void *arg, struct buf *out)
{
	int *left = arg;

	if (*left == 0)
		return -ENODATA;
	buf_addf(out, "data: %d\n\n", (*left)--);
	return 0;
}

static int get_stream(void *arg, const struct http_request *r, struct http_reply *reply, struct sonde_err *err)
{
	int *left = malloc(sizeof(*left));

	*left = 3;
	reply->stream = (struct http_stream){ .next = next_count, .free = free, .arg = left };
	return 0;
}

static const struct http_endpoint endpoints[] = {
	{ "GET", "/", get_hello, HTTP_PAGE },
	{ "GET", "/api/hello", get_hello, 0 },
	{ "POST", "/api/echo", post_echo, 0 },
	{ "GET", "/api/stream", get_stream, 0 },
	{ "GET", "/metrics", get_hello, HTTP_OPEN },
	{ NULL, NULL, NULL, 0 },
};

static struct http_server *http_server;
static char token[64], cookie[128];

static int connect_tcp(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)http_server_port(http_server)) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Everything until the other side closes. */
static void read_all(int fd, struct buf *out)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char bytes[4096];
	ssize_t n;

	while (poll(&p, 1, PATIENCE_MS) == 1 && (n = read(fd, bytes, sizeof(bytes))) > 0)
		buf_add(out, bytes, (size_t)n);
}

/* The status of the answer to a request whose head is given; the answer is in *answer. */
static int ask_as(struct buf *answer, const char *host, const char *line, const char *headers, const char *body)
{
	struct buf text = BUF_INIT;
	int fd = connect_tcp(), status = 0;

	buf_addf(&text, "%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s", line, host, headers);
	if (body)
		buf_addf(&text, "Content-Length: %zu\r\n", strlen(body));
	buf_addf(&text, "\r\n%s", body ? body : "");
	(void)!send(fd, text.data, text.len, MSG_NOSIGNAL);
	buf_reset(answer);
	read_all(fd, answer);
	close(fd);
	buf_release(&text);
	sscanf(answer->data, "HTTP/1.1 %d", &status);
	return status;
}

static int ask(struct buf *answer, const char *line, const char *headers)
{
	char host[64];

	snprintf(host, sizeof(host), "127.0.0.1:%u", http_server_port(http_server));
	return ask_as(answer, host, line, headers, NULL);
}

static int set_up(void **state)
{
	struct http_server_options o = { .endpoints = endpoints, .bearer = "sesame", .request_seconds = 2 };
	struct buf url = BUF_INIT, answer = BUF_INIT;
	char line[128];
	const char *at;

	assert_int_equal(http_server_start(&http_server, &o, NULL), 0);
	assert_int_equal(http_server_url(http_server, &url, NULL), 0);
	snprintf(token, sizeof(token), "%s", strstr(url.data, "token=") + 6);
	snprintf(line, sizeof(line), "GET /?token=%s", token);
	assert_int_equal(ask(&answer, line, ""), 303);
	at = strstr(answer.data, "Set-Cookie: ");
	assert_non_null(at);
	assert_non_null(strstr(at, "HttpOnly"));
	assert_non_null(strstr(at, "SameSite=Strict"));
	at += strlen("Set-Cookie: ");
	snprintf(cookie, sizeof(cookie), "Cookie: %.*s\r\n", (int)strcspn(at, ";"), at);
	buf_release(&answer);
	buf_release(&url);
	return 0;
}

static int tear_down(void **state)
{
	http_server_stop(http_server);
	return 0;
}

static void nothing_without_the_token(void **state)
{
	struct buf a = BUF_INIT;
	char line[128];

	assert_int_equal(ask(&a, "GET /", ""), 403);
	assert_int_equal(ask(&a, "GET /api/hello", ""), 403);
	assert_int_equal(ask(&a, "GET /nothing", ""), 403);
	assert_int_equal(ask(&a, "GET /?token=0123456789abcdef0123456789abcdef", ""), 403);
	assert_int_equal(ask(&a, "GET /?token=", ""), 403);
	assert_int_equal(ask(&a, "GET /api/hello", "Cookie: sonde_1=x\r\n"), 403);
	snprintf(line, sizeof(line), "GET /?token=%s", token);
	assert_int_equal(ask(&a, line, ""), 403); /* used once already */
	assert_int_equal(ask(&a, "GET /metrics", ""), 200);
	buf_release(&a);
}

static void with_the_cookie(void **state)
{
	struct buf a = BUF_INIT;

	assert_int_equal(ask(&a, "GET /api/hello", cookie), 200);
	assert_non_null(strstr(a.data, "Content-Security-Policy: default-src 'none'"));
	assert_non_null(strstr(a.data, "X-Content-Type-Options: nosniff"));
	assert_non_null(strstr(a.data, "hello "));
	assert_int_equal(ask(&a, "HEAD /api/hello", cookie), 200);
	assert_int_equal(ask(&a, "GET /nothing", cookie), 404);
	assert_int_equal(ask(&a, "POST /api/hello", cookie), 405);
	assert_int_equal(ask(&a, "GET /api/hello?times=0", cookie), 400);
	assert_int_equal(ask(&a, "GET /api/hello?times=99999999999999999999", cookie), 400);
	assert_int_equal(ask(&a, "GET /api/hello", "Authorization: Bearer sesame\r\n"), 200);
	assert_int_equal(ask(&a, "GET /api/hello", "Authorization: Bearer sesam\r\n"), 403);
	assert_int_equal(ask(&a, "GET /api/hello", "Authorization: Bearer sesamesesame\r\n"), 403);
	buf_release(&a);
}

static void other_hosts_and_origins(void **state)
{
	struct buf a = BUF_INIT;
	char text[256], host[64];

	snprintf(host, sizeof(host), "localhost:%u", http_server_port(http_server));
	assert_int_equal(ask_as(&a, host, "GET /api/hello", cookie, NULL), 200);
	assert_int_equal(ask_as(&a, "evil.example", "GET /api/hello", cookie, NULL), 403);
	assert_int_equal(ask_as(&a, "127.0.0.1:1", "GET /api/hello", cookie, NULL), 403);
	snprintf(host, sizeof(host), "127.0.0.1.evil.example:%u", http_server_port(http_server));
	assert_int_equal(ask_as(&a, host, "GET /api/hello", cookie, NULL), 403);
	assert_int_equal(ask_as(&a, "evil.example", "GET /metrics", "", NULL), 403);
	snprintf(text, sizeof(text), "%sOrigin: http://evil.example\r\n", cookie);
	assert_int_equal(ask(&a, "GET /api/hello", text), 403);
	snprintf(text, sizeof(text), "%sOrigin: null\r\n", cookie);
	assert_int_equal(ask(&a, "GET /api/hello", text), 403);
	snprintf(text, sizeof(text), "%sOrigin: http://127.0.0.1:%u\r\n", cookie, http_server_port(http_server));
	assert_int_equal(ask(&a, "GET /api/hello", text), 200);
	buf_release(&a);
}

static void paths_that_climb(void **state)
{
	static const char *const lines[] = { "GET /../etc/passwd", "GET /api/../api/hello", "GET /%2e%2e/etc/passwd",
		"GET /api/%2e%2e%2fhello", "GET //api/hello", "GET /./api/hello", "GET /api\\hello",
		"GET /api/hello%00x" };
	struct buf a = BUF_INIT;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		int status = ask(&a, lines[i], cookie);

		/* A NUL ends the path: there is none of that name, or it is the whole one. */
		if (status != 400 && status != 404)
			assert_string_equal(lines[i], "GET /api/hello%00x");
	}
	buf_release(&a);
}

static void too_much(void **state)
{
	size_t many = HTTP_BODY_BYTES_MAX + 1000;
	char *long_text = malloc(many + 1), host[64];
	struct buf a = BUF_INIT, headers = BUF_INIT;
	int status;

	memset(long_text, 'x', many);
	long_text[many] = '\0';
	snprintf(host, sizeof(host), "127.0.0.1:%u", http_server_port(http_server));
	assert_int_equal(ask_as(&a, host, "POST /api/echo", cookie, "four"), 200);
	assert_non_null(strstr(a.data, "\r\n\r\nfour"));
	status = ask_as(&a, host, "POST /api/echo", cookie, long_text);
	assert_true(status == 413 || status == 0); /* or cut before it could be said */
	buf_addf(&headers, "X-Long: %.*s\r\n", (int)(2 * HTTP_HEADER_BYTES_MAX), long_text);
	status = ask(&a, "GET /api/hello", headers.data);
	assert_true(status == 0 || (status >= 400 && status < 500));
	assert_int_equal(ask(&a, "GET /api/hello", cookie), 200); /* and others are served */
	free(long_text);
	buf_release(&headers);
	buf_release(&a);
}

/* One byte at a time keeps no connection alive for longer than a request may take. */
static void slow_clients_are_cut(void **state)
{
	static const char start[] = "GET /api/hello HTTP/1.1\r\nX-Slow: ";
	struct pollfd p = { .fd = connect_tcp(), .events = POLLIN };
	int64_t until_ns = clock_mono_ns() + (int64_t)PATIENCE_MS * 1000000;
	bool is_cut = false;
	char byte;

	(void)!send(p.fd, start, sizeof(start) - 1, MSG_NOSIGNAL);
	while (!is_cut && clock_mono_ns() < until_ns) {
		if (poll(&p, 1, 100) == 1)
			is_cut = recv(p.fd, &byte, 1, 0) <= 0;
		else
			is_cut = send(p.fd, "x", 1, MSG_NOSIGNAL) < 0;
	}
	assert_true(is_cut);
	close(p.fd);
}

static void many_connections_do_not_lock_others_out_for_ever(void **state)
{
	int fds[HTTP_CONNECTIONS_MAX + 8];
	size_t count = sizeof(fds) / sizeof(fds[0]);
	int64_t until_ns = clock_mono_ns() + (int64_t)PATIENCE_MS * 1000000;
	struct buf a = BUF_INIT;
	int status = 0;

	for (size_t i = 0; i < count; i++)
		fds[i] = connect_tcp();
	while (status != 200 && clock_mono_ns() < until_ns)
		status = ask(&a, "GET /api/hello", cookie);
	assert_int_equal(status, 200);
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
	buf_release(&a);
}

static void answers_are_compressed_where_that_is_wanted(void **state)
{
	struct buf a = BUF_INIT;
	char headers[256];

	snprintf(headers, sizeof(headers), "%sAccept-Encoding: gzip, br\r\n", cookie);
	assert_int_equal(ask(&a, "GET /api/hello?times=5000", headers), 200);
	assert_non_null(strstr(a.data, "Content-Encoding: gzip"));
	assert_true(a.len < 10000);
	assert_int_equal(ask(&a, "GET /api/hello?times=5000", cookie), 200);
	assert_null(strstr(a.data, "Content-Encoding"));
	assert_true(a.len > 30000);
	buf_release(&a);
}

static void streams_say_all_and_end(void **state)
{
	struct buf a = BUF_INIT;

	assert_int_equal(ask(&a, "GET /api/stream", cookie), 200);
	assert_non_null(strstr(a.data, "text/event-stream"));
	assert_non_null(strstr(a.data, "data: 3"));
	assert_non_null(strstr(a.data, "data: 1"));
	buf_release(&a);
}

static void a_socket_is_its_own_key(void **state)
{
	char dir[] = "/tmp/sonde-guard-XXXXXX";
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct http_server_options o = { .endpoints = endpoints, .unix_path = a.sun_path };
	static const char text[] = "GET /api/hello HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n";
	struct buf answer = BUF_INIT;
	struct http_server *g;
	struct stat st;
	int fd;

	assert_non_null(mkdtemp(dir));
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/socket", dir);
	assert_int_equal(http_server_start(&g, &o, NULL), 0);
	assert_int_equal(stat(a.sun_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	read_all(fd, &answer);
	assert_non_null(strstr(answer.data, "HTTP/1.1 200"));
	close(fd);
	http_server_stop(g);
	assert_int_equal(stat(a.sun_path, &st), -1);
	rmdir(dir);
	buf_release(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_without_the_token, set_up, tear_down),
		cmocka_unit_test_setup_teardown(with_the_cookie, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_hosts_and_origins, set_up, tear_down),
		cmocka_unit_test_setup_teardown(paths_that_climb, set_up, tear_down),
		cmocka_unit_test_setup_teardown(too_much, set_up, tear_down),
		cmocka_unit_test_setup_teardown(slow_clients_are_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_connections_do_not_lock_others_out_for_ever, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_are_compressed_where_that_is_wanted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(streams_say_all_and_end, set_up, tear_down),
		cmocka_unit_test(a_socket_is_its_own_key),
	};

	return RUN_TESTS(tests);
}

/* sonde-transfer: makes one request; see transfer.h. It is a main program and may print. */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "launch/mqtt.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_BYTES_MAX ((size_t)16 << 20)
#define REDIRECTS_MAX 5L
#define CONNECT_SECONDS 10L

struct request {
	char *method, *url, *output, *topic, *user, *sigv4;
	struct curl_slist *headers;
	int64_t from;
	long timeout;
	int qos;
	const char *body;
	size_t body_bytes;
};

struct answer {
	long status;
	int64_t bytes, whole;
	int fd; /* -1: discard the body */
	int64_t from;
	CURL *curl;
	bool is_checked;
	char error[256];
};

static void parse_line(struct request *r, char *line)
{
	char *value = strchr(line, ' ');

	if (!value)
		return;
	*value++ = '\0';
	if (strcmp(line, "header") == 0)
		r->headers = curl_slist_append(r->headers, value);
	else if (strcmp(line, "output") == 0)
		r->output = value;
	else if (strcmp(line, "user") == 0)
		r->user = value;
	else if (strcmp(line, "sigv4") == 0)
		r->sigv4 = value;
	else if (strcmp(line, "from") == 0)
		r->from = strtoll(value, NULL, 10);
	else if (strcmp(line, "timeout") == 0)
		r->timeout = strtol(value, NULL, 10);
	else if (strcmp(line, "topic") == 0)
		r->topic = value;
	else if (strcmp(line, "qos") == 0)
		r->qos = *value == '1';
}

/* Parses lines up to an empty one, then the body. False if malformed. */
static bool parse(struct request *r, struct buf *text)
{
	char *end = strstr(text->data, "\n\n"), *rest, *line;

	*r = (struct request){ .timeout = 30 };
	if (!end)
		return false;
	r->body = end + 2;
	r->body_bytes = text->len - (size_t)(r->body - text->data);
	*end = '\0';
	r->method = text->data;
	rest = strchr(text->data, '\n');
	if (rest)
		*rest++ = '\0';
	r->url = strchr(r->method, ' ');
	if (!r->url)
		return false;
	*r->url++ = '\0';
	while ((line = rest) && *line) {
		rest = strchr(line, '\n');
		if (rest)
			*rest++ = '\0';
		parse_line(r, line);
	}
	return true;
}

/* A range request must be answered with 206; otherwise the body is discarded. */
static bool is_wanted(struct answer *a)
{
	if (a->is_checked)
		return true;
	a->is_checked = true;
	curl_easy_getinfo(a->curl, CURLINFO_RESPONSE_CODE, &a->status);
	return a->status / 100 == 2 && (!a->from || a->status == 206);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
	struct answer *a = arg;
	size_t n = size * count;
	int rc;

	if (!is_wanted(a))
		return a->status / 100 == 2 ? 0 : n; /* the body of an error response is discarded */
	if (a->status / 100 != 2 || a->fd < 0)
		return n;
	rc = fs_write_all(a->fd, bytes, n);
	if (rc < 0) {
		snprintf(a->error, sizeof(a->error), "cannot write the response: %s", strerror(-rc));
		return 0;
	}
	a->bytes += (int64_t)n;
	return n;
}

/* "Content-Range: bytes 5-9/10", "Content-Length: 10" */
static size_t on_header(char *line, size_t size, size_t count, void *arg)
{
	struct answer *a = arg;
	size_t n = size * count;
	char text[256];
	long long first, last, whole;

	snprintf(text, sizeof(text), "%.*s", (int)(n < 255 ? n : 255), line);
	if (strncasecmp(text, "Content-Range:", 14) == 0 &&
			sscanf(text + 14, " bytes %lld-%lld/%lld", &first, &last, &whole) == 3)
		a->whole = first == a->from ? whole : -2;
	else if (strncasecmp(text, "Content-Length:", 15) == 0 && a->whole == -1 && !a->from)
		a->whole = strtoll(text + 15, NULL, 10);
	else if (strncmp(text, "HTTP/", 5) == 0)
		a->whole = -1; /* of the previous response, a redirect */
	return n;
}

static void set_options(CURL *curl, const struct request *r, struct answer *a)
{
	bool is_reading = strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;

	curl_easy_setopt(curl, CURLOPT_URL, r->url);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, r->headers);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, strncmp(r->url, "https:", 6) == 0 ? "https" : "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, is_reading ? 1L : 0L);
	curl_easy_setopt(curl, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, r->timeout);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "sonde");
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, a->error);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, a);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, a);
	if (r->sigv4) {
		curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, r->sigv4);
		curl_easy_setopt(curl, CURLOPT_USERPWD, r->user);
		curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L); /* the server signs the path as it was sent */
	}
	if (r->from)
		curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)r->from);
	if (strcmp(r->method, "HEAD") == 0) {
		curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
	} else if (!is_reading) {
		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, r->method);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_bytes);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, r->body);
	}
}

static void over_http(const struct request *r, struct answer *a)
{
	CURL *curl = curl_easy_init();
	CURLcode code;

	if (!curl) {
		snprintf(a->error, sizeof(a->error), "cannot prepare the request");
		return;
	}
	a->curl = curl;
	a->from = r->from;
	if (r->output)
		a->fd = open(r->output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (r->output && a->fd < 0)
		snprintf(a->error, sizeof(a->error), "cannot open '%s': %s", r->output, strerror(errno));
	if (!*a->error) {
		char words[CURL_ERROR_SIZE] = "";

		set_options(curl, r, a);
		curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words);
		code = curl_easy_perform(curl);
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &a->status);
		if (code != CURLE_OK && !*a->error)
			snprintf(a->error, sizeof(a->error), "%s", *words ? words : curl_easy_strerror(code));
	}
	curl_easy_cleanup(curl);
}

static void over_mqtt(const struct request *r, struct answer *a)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct mqtt_message m = { r->url, r->topic, r->body, r->body_bytes, r->qos, r->timeout };
	int rc = r->topic ? mqtt_publish(&m, &err) : -EINVAL;

	a->status = rc == 0 ? 200 : 0;
	snprintf(a->error, sizeof(a->error), "%.250s", rc == -EINVAL && !*err.text ? "missing topic" : err.text);
}

static void answer(const struct answer *a)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	json_init(&j, &text, false);
	json_object(&j);
	json_kint(&j, "status", a->status);
	json_kint(&j, "bytes", a->bytes);
	if (a->whole >= 0)
		json_kint(&j, "whole", a->whole);
	if (*a->error)
		json_kstr(&j, "error", a->error);
	json_end(&j);
	printf("%s\n", text.data);
}

int main(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct answer a = { .whole = -1, .fd = -1 };
	struct request r;

	signal(SIGPIPE, SIG_IGN);
	if (fs_read_file(AT_FDCWD, "/dev/stdin", REQUEST_BYTES_MAX, &text, NULL) < 0 || !parse(&r, &text)) {
		snprintf(a.error, sizeof(a.error), "invalid request");
		answer(&a);
		return 2;
	}
	if (strcmp(r.method, "PUBLISH") == 0)
		over_mqtt(&r, &a);
	else
		over_http(&r, &a);
	curl_slist_free_all(r.headers);
	if (a.fd >= 0 && close(a.fd) && !*a.error)
		snprintf(a.error, sizeof(a.error), "cannot write the response: %s", strerror(errno));
	answer(&a);
	return fflush(stdout) == 0 && a.status / 100 == 2 && !*a.error ? 0 : 1;
}

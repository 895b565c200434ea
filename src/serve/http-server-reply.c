/*
 * Responses: common headers, compression, errors, streams.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "serve/http-server-private.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GZIP_BYTES_MIN 1024
#define STREAM_BLOCK_BYTES 4096
#define STREAM_ALIVE_NS ((int64_t)15 * 1000 * 1000 * 1000)

static const struct {
	const char *name, *value;
} headers[] = {
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cache-Control", "no-store" },
};

static const char nothing_loads[] = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

static void add_headers(struct http_request *r, const struct http_reply *reply, struct MHD_Response *response)
{
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(response, headers[i].name, headers[i].value);
	MHD_add_response_header(response, "Content-Security-Policy", reply->policy ? reply->policy : nothing_loads);
	MHD_add_response_header(response, "Content-Type", reply->type ? reply->type : "application/json");
	if (reply->status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, "WWW-Authenticate", "Basic realm=\"sonde\"");
	if (reply->location)
		MHD_add_response_header(response, "Location", reply->location);
	if (reply->location && reply->status == MHD_HTTP_SEE_OTHER) {
		char cookie[160];

		snprintf(cookie, sizeof(cookie), "%s=%s; HttpOnly; SameSite=Strict; Path=/", r->http_server->cookie,
				r->http_server->session);
		MHD_add_response_header(response, "Set-Cookie", cookie);
	}
}

static bool takes_gzip(struct http_request *r)
{
	const char *said = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Accept-Encoding");

	return said && strstr(said, "gzip");
}

static struct MHD_Response *whole(struct http_request *r, struct http_reply *reply)
{
	CLEANUP(buf_release) struct buf packed = BUF_INIT;
	const void *bytes = reply->fixed ? reply->fixed : reply->body.data;
	size_t n = reply->fixed ? reply->fixed_bytes : reply->body.len;
	bool is_packed = n >= GZIP_BYTES_MIN && takes_gzip(r) && http_gzip(&packed, bytes, n) == 0;
	struct MHD_Response *response;

	if (is_packed) {
		n = packed.len;
		response = MHD_create_response_from_buffer(n, buf_take(&packed), MHD_RESPMEM_MUST_FREE);
	} else if (reply->fixed) {
		response = MHD_create_response_from_buffer(n, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);
	} else {
		response = MHD_create_response_from_buffer(n, buf_take(&reply->body), MHD_RESPMEM_MUST_FREE);
	}
	if (response && is_packed)
		MHD_add_response_header(response, "Content-Encoding", "gzip");
	return response;
}

/* Output of a stream that the client has not read yet. */
struct stream {
	struct http_stream source;
	struct http_connection *line;
	struct buf text;
	size_t at;
	int64_t said_ns;
	bool is_over;
};

static void stream_free(void *arg)
{
	struct stream *s = arg;

	if (s->source.free)
		s->source.free(s->source.arg);
	buf_release(&s->text);
	free(s);
}

static ssize_t stream_read(void *arg, uint64_t position, char *out, size_t max)
{
	struct stream *s = arg;
	struct http_server *g = s->line->http_server;
	size_t n;

	if (s->at == s->text.len) {
		int64_t now_ns = clock_mono_ns();

		buf_reset(&s->text);
		s->at = 0;
		s->is_over = s->source.next(s->source.arg, &s->text) < 0 || buf_error(&s->text) < 0;
		if (!s->text.len && now_ns - s->said_ns > STREAM_ALIVE_NS)
			buf_adds(&s->text, ": alive\n\n"); /* detects clients that disconnected */
		if (s->text.len)
			s->said_ns = now_ns;
	}
	n = s->text.len - s->at < max ? s->text.len - s->at : max;
	memcpy(out, s->text.data + s->at, n);
	s->at += n;
	if (n)
		return (ssize_t)n;
	pthread_mutex_lock(&g->lock);
	bool is_over = s->is_over || g->is_stopping;
	if (!is_over) {
		MHD_suspend_connection(s->line->connection);
		s->line->is_suspended = true;
	}
	pthread_mutex_unlock(&g->lock);
	return is_over ? MHD_CONTENT_READER_END_OF_STREAM : 0;
}

static struct MHD_Response *flowing(struct http_request *r, struct http_reply *reply)
{
	struct stream *s = r->line ? calloc(1, sizeof(*s)) : NULL;
	struct MHD_Response *response;

	if (!s) {
		if (reply->stream.free)
			reply->stream.free(reply->stream.arg);
		return NULL;
	}
	*s = (struct stream){ .source = reply->stream, .line = r->line, .text = BUF_INIT, .said_ns = clock_mono_ns() };
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, stream_read, s, stream_free);
	if (!response)
		stream_free(s);
	else
		http_connection_state(r->line, HTTP_STREAMS);
	reply->type = "text/event-stream";
	return response;
}

enum MHD_Result http_send(struct http_request *r, struct http_reply *reply)
{
	struct MHD_Response *response = reply->stream.next ? flowing(r, reply) : whole(r, reply);
	unsigned status = reply->status ? (unsigned)reply->status : MHD_HTTP_OK;
	enum MHD_Result is_queued = MHD_NO;

	if (response) {
		add_headers(r, reply, response);
		is_queued = MHD_queue_response(r->connection, status, response);
		MHD_destroy_response(response);
	}
	buf_release(&reply->body);
	return is_queued;
}

enum MHD_Result http_refuse(struct http_request *r, int status, const struct sonde_err *err)
{
	struct http_reply reply = { .status = status, .body = BUF_INIT };
	struct json j;

	if (r->endpoint && r->endpoint->flags & HTTP_PAGE) {
		reply.type = "text/html; charset=utf-8";
		buf_addf(&reply.body, "<!doctype html><meta charset=utf-8><title>sonde: %d</title><h1>%d</h1><p>",
				status, status);
		buf_add_html(&reply.body, err->text);
		buf_adds(&reply.body, ".<p>");
		buf_add_html(&reply.body, err->hint);
		buf_adds(&reply.body, "\n");
		return http_send(r, &reply);
	}
	json_init(&j, &reply.body, false);
	json_object(&j);
	json_kstr(&j, "error", err->text);
	if (err->hint[0])
		json_kstr(&j, "hint", err->hint);
	json_end(&j);
	return http_send(r, &reply);
}

/* Compresses responses with ISA-L: a few hundred kilobytes take a millisecond. */

#define LEVEL 1

int http_gzip(struct buf *out, const void *bytes, size_t n)
{
	struct isal_zstream *z = calloc(1, sizeof(*z) + ISAL_DEF_LVL1_DEFAULT);
	size_t room = n + n / 16 + 4096;
	char *at = n > UINT32_MAX / 2 ? NULL : buf_room(out, room);
	int rc = -ENOMEM;

	if (z && at) {
		isal_deflate_init(z);
		z->level = LEVEL;
		z->level_buf = (uint8_t *)(z + 1);
		z->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
		z->gzip_flag = IGZIP_GZIP;
		z->end_of_stream = 1;
		z->next_in = (uint8_t *)(uintptr_t)bytes;
		z->avail_in = (uint32_t)n;
		z->next_out = (uint8_t *)at;
		z->avail_out = (uint32_t)room;
		if (isal_deflate(z) == COMP_OK && z->avail_in == 0 && z->internal_state.state == ZSTATE_END) {
			out->len += z->total_out;
			rc = 0;
		}
	}
	free(z);
	return rc;
}

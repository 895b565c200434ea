#include "exchange/gzip-stream.h"

#include "base/buf.h"
#include "pfw/gzip-read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct gzip_stream {
	FILE *under;
	struct buf text, packed;
};

/* Writes the first n bytes as a member and keeps the rest. */
static int write_member(struct gzip_stream *g, size_t n)
{
	int rc;

	buf_reset(&g->packed);
	rc = pfw_gzip_deflate(&g->packed, g->text.data, n);
	if (rc < 0) {
		errno = -rc;
		return -1;
	}
	memmove(g->text.data, g->text.data + n, g->text.len - n);
	g->text.len -= n;
	return fwrite(g->packed.data, 1, g->packed.len, g->under) == g->packed.len ? 0 : -1;
}

static ssize_t take(void *cookie, const char *bytes, size_t n)
{
	struct gzip_stream *g = cookie;
	const char *newline;

	buf_add(&g->text, bytes, n);
	if (buf_error(&g->text)) {
		errno = ENOMEM;
		return 0;
	}
	if (g->text.len < GZIP_MEMBER_BYTES)
		return (ssize_t)n;
	newline = memrchr(g->text.data, '\n', g->text.len);
	if (write_member(g, newline ? (size_t)(newline - g->text.data) + 1 : g->text.len) < 0)
		return 0;
	return (ssize_t)n;
}

static int finish(void *cookie)
{
	struct gzip_stream *g = cookie;
	int rc = write_member(g, g->text.len), error = errno;

	if (fclose(g->under) != 0 && rc == 0) {
		rc = -1;
		error = errno;
	}
	buf_release(&g->text);
	buf_release(&g->packed);
	free(g);
	errno = error;
	return rc;
}

FILE *gzip_stream_open(FILE *under)
{
	static const cookie_io_functions_t functions = { .write = take, .close = finish };
	struct gzip_stream *g = malloc(sizeof(*g));
	FILE *stream;

	if (!g)
		return NULL;
	*g = (struct gzip_stream){ .under = under };
	buf_init(&g->text, 0);
	buf_init(&g->packed, 0);
	stream = fopencookie(g, "w", functions);
	if (!stream)
		free(g);
	return stream;
}

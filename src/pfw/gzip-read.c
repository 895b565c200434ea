/* gzip with ISA-L. */
#include "pfw/gzip-read.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/vec.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IN_BYTES ((size_t)256 << 10)
#define SCAN_BYTES ((size_t)1 << 20)
#define PROBE_BYTES 2048 /* bytes of a member that are inflated to validate it */

struct pfw_gzip {
	int fd;
	int error;
	uint64_t at;    /* file offset of in[avail] */
	bool is_over;   /* no more input */
	bool has_begun; /* inside a member */
	struct inflate_state state;
	uint8_t in[IN_BYTES];
};

int pfw_gzip_open(struct pfw_gzip **out, int fd, uint64_t from)
{
	struct pfw_gzip *g = malloc(sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->fd = fd;
	g->error = 0;
	g->at = from;
	g->is_over = g->has_begun = false;
	isal_inflate_init(&g->state);
	g->state.crc_flag = ISAL_GZIP;
	*out = g;
	return 0;
}

void pfw_gzip_free(struct pfw_gzip *g)
{
	free(g);
}

uint64_t pfw_gzip_position(const struct pfw_gzip *g)
{
	return g->at - g->state.avail_in;
}

int pfw_gzip_error(const struct pfw_gzip *g)
{
	return g->error;
}

bool pfw_gzip_is_head(const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	if (n < PFW_GZIP_HEAD_BYTES || p[0] != 0x1f || p[1] != 0x8b || p[2] != 8)
		return false;
	/* reserved flags; known XFL values; assigned operating system numbers */
	return !(p[3] & 0xe0) && (p[8] == 0 || p[8] == 2 || p[8] == 4) && (p[9] <= 13 || p[9] == 255);
}

/* Moves the unread input to the front and reads more after it. Returns false on a read error. */
static bool fill(struct pfw_gzip *g)
{
	size_t left = g->state.avail_in;
	ssize_t n;

	if (left)
		memmove(g->in, g->state.next_in, left);
	g->state.next_in = g->in;
	do
		n = pread(g->fd, g->in + left, IN_BYTES - left, (off_t)g->at);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		g->error = errno;
		return false;
	}
	g->is_over = n == 0;
	g->at += (uint64_t)n;
	g->state.avail_in = (uint32_t)(left + (size_t)n);
	return true;
}

/* At the start of a member: checks whether there is one. */
static enum pfw_gzip_status begin(struct pfw_gzip *g)
{
	while (!g->is_over && g->state.avail_in < PFW_GZIP_HEAD_BYTES)
		if (!fill(g))
			return PFW_GZIP_FAILED;
	if (g->state.avail_in == 0)
		return PFW_GZIP_END;
	if (g->state.avail_in < PFW_GZIP_HEAD_BYTES && g->state.next_in[0] == 0x1f)
		return PFW_GZIP_CUT;
	if (g->state.avail_in < 3 || g->state.next_in[0] != 0x1f || g->state.next_in[1] != 0x8b ||
			g->state.next_in[2] != 8)
		return PFW_GZIP_JUNK;
	isal_inflate_reset(&g->state);
	g->state.crc_flag = ISAL_GZIP;
	g->has_begun = true;
	return PFW_GZIP_MORE;
}

enum pfw_gzip_status pfw_gzip_read(struct pfw_gzip *g, char *out, size_t room, size_t *n)
{
	enum pfw_gzip_status status = g->has_begun ? PFW_GZIP_MORE : begin(g);

	*n = 0;
	if (status != PFW_GZIP_MORE)
		return status;
	g->state.next_out = (uint8_t *)out;
	g->state.avail_out = (uint32_t)room;
	for (;;) {
		uint32_t in = g->state.avail_in, left = g->state.avail_out;
		int rc = isal_inflate(&g->state);

		*n = room - g->state.avail_out;
		if (rc < 0 ||
				(in && in == g->state.avail_in && left == g->state.avail_out &&
						g->state.block_state != ISAL_BLOCK_FINISH))
			return PFW_GZIP_DAMAGED;
		if (g->state.block_state == ISAL_BLOCK_FINISH)
			break;
		if (g->state.avail_out == 0)
			return PFW_GZIP_MORE;
		if (g->state.avail_in == 0 && !g->is_over && !fill(g))
			return PFW_GZIP_FAILED;
		if (g->state.avail_in == 0 && g->is_over)
			return PFW_GZIP_CUT;
	}
	g->has_begun = false;
	return PFW_GZIP_MEMBER;
}

/* Scan for members. */

struct starts {
	uint64_t *at;
	size_t count, cap;
};

static int add_start(struct starts *s, uint64_t at)
{
	if (!VEC_GROW(s->at, s->cap, s->count + 1, VEC_MAX))
		return -ENOMEM;
	s->at[s->count++] = at;
	return 0;
}

/* Returns whether a member starts there: its first bytes can be inflated. */
static bool is_member(int fd, uint64_t at)
{
	struct pfw_gzip *g;
	char text[PROBE_BYTES];
	size_t n;

	if (pfw_gzip_open(&g, fd, at) < 0)
		return false;
	enum pfw_gzip_status status = pfw_gzip_read(g, text, sizeof(text), &n);
	pfw_gzip_free(g);
	return status == PFW_GZIP_MORE || status == PFW_GZIP_MEMBER;
}

/* Finds member headers in one block of the file. */
static int scan_piece(struct starts *s, int fd, uint64_t stride, const uint8_t *piece, size_t n, uint64_t at)
{
	size_t i = 0;

	while (i + PFW_GZIP_HEAD_BYTES <= n) {
		const uint8_t *hit = memchr(piece + i, 0x1f, n - PFW_GZIP_HEAD_BYTES + 1 - i);

		if (!hit)
			break;
		size_t k = (size_t)(hit - piece);
		i = k + 1;
		if (hit[1] != 0x8b || !pfw_gzip_is_head(hit, n - k))
			continue;
		if (at + k < s->at[s->count - 1] + stride || !is_member(fd, at + k))
			continue;
		if (add_start(s, at + k) < 0)
			return -ENOMEM;
		i = k + (stride > 1 ? PFW_GZIP_HEAD_BYTES : 1);
	}
	return 0;
}

int pfw_gzip_scan(int fd, uint64_t bytes, uint64_t stride, uint64_t **starts, size_t *count, struct sonde_err *err)
{
	CLEANUP(cleanup_free) uint8_t *piece = malloc(SCAN_BYTES);
	struct starts s = { .at = NULL };
	int rc = piece ? add_start(&s, 0) : -ENOMEM;
	uint64_t at = stride; /* no other member can start before */

	while (rc == 0 && at < bytes) {
		ssize_t n = TEMP_FAILURE_RETRY(pread(fd, piece, SCAN_BYTES, (off_t)at));

		if (n <= 0) {
			rc = n < 0 ? -errno : 0;
			break;
		}
		rc = scan_piece(&s, fd, stride, piece, (size_t)n, at);
		/* A header may span two blocks. */
		at += n > PFW_GZIP_HEAD_BYTES ? (uint64_t)n - PFW_GZIP_HEAD_BYTES + 1 : (uint64_t)n;
	}
	if (rc < 0) {
		free(s.at);
		return err_sys(err, -rc, "cannot scan the gzip file for members");
	}
	*starts = s.at;
	*count = s.count;
	return 0;
}

/* Compression. */

int pfw_gzip_deflate(struct buf *out, const void *text, size_t n)
{
	CLEANUP(cleanup_free) uint8_t *level_buf = malloc(ISAL_DEF_LVL2_DEFAULT);
	size_t room = n + n / 8 + 1024;
	struct isal_zstream stream;

	if (!level_buf || !buf_reserve(out, room))
		return -ENOMEM;
	isal_deflate_stateless_init(&stream);
	stream.level = 2;
	stream.level_buf = level_buf;
	stream.level_buf_size = ISAL_DEF_LVL2_DEFAULT;
	stream.gzip_flag = IGZIP_GZIP;
	stream.end_of_stream = 1;
	stream.flush = NO_FLUSH;
	stream.next_in = (uint8_t *)(uintptr_t)text;
	stream.avail_in = (uint32_t)n;
	stream.next_out = (uint8_t *)out->data + out->len;
	stream.avail_out = (uint32_t)room;
	if (isal_deflate_stateless(&stream) != COMP_OK)
		return -ENOMEM;
	out->len += stream.total_out;
	out->data[out->len] = '\0';
	return 0;
}

struct gzip_stream {
	FILE *under;
	struct buf text, packed;
};

/* Writes the first n bytes as a member and keeps the rest. */
static int write_member(struct gzip_stream *g, size_t n)
{
	buf_reset(&g->packed);
	int rc = pfw_gzip_deflate(&g->packed, g->text.data, n);
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

	buf_add(&g->text, bytes, n);
	if (buf_error(&g->text)) {
		errno = ENOMEM;
		return 0;
	}
	if (g->text.len < GZIP_MEMBER_BYTES)
		return (ssize_t)n;
	const char *newline = memrchr(g->text.data, '\n', g->text.len);
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

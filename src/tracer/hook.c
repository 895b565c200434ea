/*
 * The long way of a hook: records that carry paths, and calls that make
 * descriptors. Strings are read only after the real call has accepted them: a
 * pointer that the kernel refused (EFAULT) is never followed.
 */
#include "tracer/hook.h"

void *real[CALL_COUNT];

struct text {
	const char *at;
	size_t len;
	uint64_t base;
};

static struct text text_of(const char *at)
{
	return (struct text){ .at = at, .len = at ? strnlen(at, PATH_BYTES_MAX) : 0 };
}

static struct text path_of(const char *path, int dirfd)
{
	struct text t = text_of(path);
	if (path && path[0] != '/')
		t.base = (dirfd == AT_FDCWD ? tracer.cwd : fds_file(dirfd)) & ~FILE_IGNORED;
	return t;
}

/* File identity of the result or of the path, after the call's effect on the descriptor table. */
static uint64_t take_effect(struct call *c, int64_t ret, int errnum, bool is_ignored)
{
	if (errnum || c->effect == EFFECT_NONE)
		return c->fd >= 0 ? fds_file(c->fd) : 0;
	switch (c->effect) {
	case EFFECT_OPENS:
		return fds_opened((int)ret, c->open_flags, is_ignored);
	case EFFECT_DUPS:
		fds_dup(c->fd, (int)ret);
		return fds_file(c->fd);
	case EFFECT_MAKES:
		fds_closed((int)ret);
		return fds_file((int)ret);
	default:
		return c->fd >= 0 ? fds_file(c->fd) : 0;
	}
}

static void write_texts(void *at, const struct text *texts, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		at = ring_put_string(at, texts[i].at, texts[i].len);
}

static unsigned texts_of(struct call *c, bool is_readable, struct text texts[3], uint8_t *flags)
{
	unsigned n = 0;
	if (!is_readable)
		return 0;
	if (c->path) {
		texts[n++] = path_of(c->path, c->dirfd);
		*flags |= SONDE_CALL_PATH;
	}
	if (c->path2 && c->path && c->args < 4) {
		texts[n] = path_of(c->path2, c->dirfd2);
		c->arg[c->args++] = (int64_t)texts[n++].base;
		*flags |= SONDE_CALL_PATH2;
	}
	if (c->text)
		texts[n++] = text_of(c->text);
	return n;
}

void call_done_long(uint16_t id, uint64_t start, uint64_t end, int64_t ret, int errnum, struct call *c)
{
	int kept_errno = errno;
	uint8_t flags = 0;
	struct text texts[3];
	bool is_readable = errnum != EFAULT;
	bool is_ignored = is_readable && c->path && !fds_path_is_wanted_at(c->dirfd, c->path);
	unsigned strings = texts_of(c, is_readable, texts, &flags);
	uint64_t file = take_effect(c, ret, errnum, is_ignored);
	size_t bytes = sizeof(struct sonde_rec_call) + 8 * c->args + (strings ? 8 : 0);
	for (unsigned i = 0; i < strings; i++)
		bytes += ring_string_bytes(texts[i].len);
	if (is_ignored || (file & FILE_IGNORED) || end - start < tracer.min_dur_ticks) {
		ring_count_filtered();
		if (!is_ignored && !(file & FILE_IGNORED) && c->effect == EFFECT_OPENS && !errnum && strings)
			fds_define(file, texts[0].base, texts[0].at, texts[0].len);
		errno = kept_errno;
		return;
	}
	struct sonde_rec_call *r = ring_reserve(bytes);
	if (r) {
		r->ticks = start;
		r->dur_ticks = end - start;
		r->file = file;
		r->ret = ret;
		r->fd = c->effect == EFFECT_OPENS || c->effect == EFFECT_MAKES ? (errnum ? -1 : (int)ret) : c->fd;
		r->args = (uint8_t)c->args;
		r->strings = (uint8_t)strings;
		r->defines = c->effect == EFFECT_OPENS && !errnum && (flags & SONDE_CALL_PATH);
		r->flags = flags;
		r->size = c->size;
		r->offset = c->offset;
		int64_t *tail = (int64_t *)(r + 1);
		for (unsigned i = 0; i < c->args; i++)
			*tail++ = c->arg[i];
		if (strings) {
			*tail++ = (int64_t)texts[0].base;
			write_texts(tail, texts, strings);
		}
		ring_commit(&r->head, bytes, SONDE_REC_CALL, id, (uint16_t)errnum);
	}
	errno = kept_errno;
}

void call_run_start(uint16_t id, uint64_t start, FILE *stream)
{
	const size_t bytes = sizeof(struct sonde_rec_call) + 8;
	int kept_errno = errno;
	uint64_t file = fds_file(stream_fd(stream));
	struct sonde_rec_call *r = file & FILE_IGNORED ? NULL : ring_reserve(bytes);
	if (r) {
		memset((char *)r + 8, 0, bytes - 8);
		r->ticks = start ? start : tick();
		r->file = file;
		r->ret = SONDE_NONE;
		r->fd = stream_fd(stream);
		r->args = 1;
		r->offset = SONDE_NONE;
		ring_commit(&r->head, bytes, SONDE_REC_RUN, id, 0);
		r->head.state = SONDE_RUNNING;
		thread.run = r;
		thread.run_stream = stream;
	}
	errno = kept_errno;
}

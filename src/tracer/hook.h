/*
 * hook: what a wrapper does, as a few inline functions that fold to almost
 * nothing. Included by hooks/<family>.c only.
 *
 * A hook is: two time stamps, the real call, one record. `struct call` says what
 * to record; whatever a row leaves out is a constant and compiles away.
 */
#ifndef SONDE_TRACER_HOOK_H
#define SONDE_TRACER_HOOK_H

#include "tracer/calls.h"
#include "tracer/fds.h"
#include "tracer/tracer.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

extern void *real[CALL_COUNT] __attribute__((visibility("hidden")));

/* What a call does to the descriptor table, once it has succeeded. */
enum effect {
	EFFECT_NONE,
	EFFECT_MOVES, /* fd's offset moves by the result: the offset is where it began */
	EFFECT_SEEKS, /* the result is fd's new offset */
	EFFECT_OPENS, /* the result is a new descriptor of path */
	EFFECT_DUPS,  /* the result is a new descriptor of fd's file */
	EFFECT_MAKES, /* the result is a new descriptor without a path (socket, pipe end, memfd) */
};

struct call {
	int fd; /* acted on; -1 none */
	int dirfd, dirfd2; /* what path and path2 are relative to */
	const char *path, *path2, *text;
	int64_t size, offset;
	unsigned args;
	int64_t arg[4];
	enum effect effect;
	int open_flags;
};

#define CALL(...)                                                                                        \
	(struct call)                                                                                    \
	{                                                                                                \
		.fd = -1, .dirfd = AT_FDCWD, .dirfd2 = AT_FDCWD, .size = SONDE_NONE, .offset = SONDE_NONE, \
		__VA_ARGS__                                                                              \
	}
/* Fields for rows: ARGS2(a, b) keeps two plain arguments. */
#define ARGS1(a) .args = 1, .arg = { (int64_t)(a) }
#define ARGS2(a, b) .args = 2, .arg = { (int64_t)(a), (int64_t)(b) }
#define ARGS3(a, b, c) .args = 3, .arg = { (int64_t)(a), (int64_t)(b), (int64_t)(c) }
#define ARGS4(a, b, c, d) .args = 4, .arg = { (int64_t)(a), (int64_t)(b), (int64_t)(c), (int64_t)(d) }

#define FAILED_I(r) ((int64_t)(r) == -1)
#define FAILED_P(r) ((r) == NULL)
#define FAILED_M(r) ((void *)(uintptr_t)(r) == (void *)-1)
#define FAILED_N(r) false
#define ERROR_I(r) (FAILED_I(r) ? errno : 0)
#define ERROR_P(r) (FAILED_P(r) ? errno : 0)
#define ERROR_M(r) (FAILED_M(r) ? errno : 0)
#define ERROR_E(r) ((int)(r))
#define ERROR_N(r) 0

/* The next definition of a hooked function. */
ALWAYS_INLINE void *real_of(unsigned call)
{
	if (unlikely(!tracer.is_ready))
		tracer_init();
	return real[call];
}
#define REAL(name) ((__typeof__(&name))real_of(CALL_##name))

/* A stream's descriptor, or -1: a field of every glibc FILE, read without its side effects. */
ALWAYS_INLINE int stream_fd(FILE *stream)
{
	return stream ? stream->_fileno : -1;
}

/* Records with strings or new descriptors: the long way (hook.c). Keeps errno. */
void call_done_long(uint16_t id, uint64_t start, uint64_t end, int64_t ret, int errnum, struct call *c);

ALWAYS_INLINE void call_record(uint16_t id, uint64_t start, uint64_t end, int64_t ret, int errnum, uint64_t file,
			       const struct call c)
{
	const size_t bytes = sizeof(struct sonde_rec_call) + 8 * c.args;
	if (unlikely((file & FILE_IGNORED) || end - start < tracer.min_dur_ticks)) {
		ring_count_filtered();
		return;
	}
	struct sonde_rec_call *r = ring_reserve(bytes);
	if (unlikely(!r))
		return;
	r->ticks = start;
	r->dur_ticks = end - start;
	r->file = file;
	r->ret = ret;
	r->fd = c.fd;
	*(uint32_t *)&r->args = c.args; /* no strings, defines nothing, no flags */
	r->size = c.size;
	r->offset = c.offset;
	for (unsigned i = 0; i < c.args; i++)
		((int64_t *)(r + 1))[i] = c.arg[i];
	ring_commit(&r->head, bytes, SONDE_REC_CALL, id, (uint16_t)errnum);
}

ALWAYS_INLINE void call_done(uint16_t id, uint64_t start, int64_t ret, int errnum, struct call c)
{
	uint64_t end = tick();
	if (c.path || c.path2 || c.text || c.effect == EFFECT_OPENS || c.effect == EFFECT_DUPS ||
	    c.effect == EFFECT_MAKES) {
		call_done_long(id, start, end, ret, errnum, &c);
		return;
	}
	if (c.effect == EFFECT_MOVES)
		c.offset = fds_advance(c.fd, errnum ? 0 : ret);
	if (c.effect == EFFECT_SEEKS && !errnum)
		fds_seeked(c.fd, ret);
	call_record(id, start, end, ret, errnum, c.fd >= 0 ? fds_file(c.fd) : 0, c);
}

/* One more character through `stream`. */
void call_run_start(uint16_t id, uint64_t start, FILE *stream);

ALWAYS_INLINE void call_run(uint16_t id, uint64_t start, FILE *stream, bool is_failed)
{
	struct sonde_rec_call *r = thread.run;
	if (unlikely(!r || r->head.call != id || thread.run_stream != stream)) {
		call_run_start(id, start, stream);
		r = thread.run;
		if (!r)
			return;
	}
	r->dur_ticks = tick() - r->ticks;
	r->size += !is_failed;
	*(int64_t *)(r + 1) += 1;
}

/* Wrappers from rows. */
#define HOOK(category, failure, type, name, parameters, arguments, names, ...)                                    \
	EXPORT type name parameters                                                                              \
	{                                                                                                        \
		type(*next) parameters = (type(*) parameters)real_of(CALL_##name);                               \
		if (!tracer_wants(SONDE_CAT_##category))                                                         \
			return next arguments;                                                                   \
		uint64_t start = tick();                                                                         \
		type result = next arguments;                                                                    \
		call_done(CALL_##name, start, (int64_t)result, ERROR_##failure(result), CALL(__VA_ARGS__));      \
		return result;                                                                                   \
	}
#define BYTE(type, name, parameters, arguments, stream, is_failed)                                                \
	EXPORT type name parameters                                                                              \
	{                                                                                                        \
		type(*next) parameters = (type(*) parameters)real_of(CALL_##name);                               \
		if (!tracer_wants(SONDE_CAT_STDIO))                                                              \
			return next arguments;                                                                   \
		uint64_t start = thread.run ? 0 : tick();                                                        \
		type result = next arguments;                                                                    \
		call_run(CALL_##name, start, stream, is_failed);                                                 \
		return result;                                                                                   \
	}
#define HAND(category, name, names)

#endif

/*
 * hook: the parts of a wrapper, as inline functions that fold to almost nothing. Included by hooks/hook-*.c
 * only.
 *
 * A hook is: two time stamps, the real call, one record. `struct call` selects what to record; every field that a row
 * omits is a constant and compiles away.
 */
#ifndef SONDE_TRACER_HOOK_H
#define SONDE_TRACER_HOOK_H

#include "calls/calls.h"
#include "tracer/fds.h"
#include "tracer/tracer.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

extern void *real[CALL_COUNT] __attribute__((visibility("hidden")));
void *real_find(unsigned call); /* init.c */

/* Effect of a successful call on the descriptor table. */
enum effect {
	EFFECT_NONE,
	EFFECT_MOVES, /* fd's offset moves by the result: the recorded offset is where it started */
	EFFECT_SEEKS, /* the result is fd's new offset */
	EFFECT_OPENS, /* the result is a new descriptor of path */
	EFFECT_DUPS,  /* the result is a new descriptor of fd's file */
	EFFECT_MAKES, /* the result is a new descriptor without a path (socket, pipe end, memfd) */
};

struct call {
	int fd;            /* -1: none */
	int dirfd, dirfd2; /* base directories of path and path2 */
	const char *path, *path2, *text;
	size_t text_bytes; /* of a readable text that may contain NULs; 0: up to its NUL */
	int64_t size, offset;
	unsigned args;
	int64_t arg[4];
	enum effect effect;
	int open_flags;
	int path_error;    /* of a call that has not been made yet, see call_start */
	bool only_if_slow; /* record it only if it took long enough for a system call */
};

/* A struct call with block scope and the given fields. */
#define CALL(...) \
	(&(struct call){ .fd = -1, \
			.dirfd = AT_FDCWD, \
			.dirfd2 = AT_FDCWD, \
			.size = SONDE_NONE, \
			.offset = SONDE_NONE, \
			__VA_ARGS__ })
/* Fields for rows: ARGS2(a, b) records two plain arguments. */
#define ARGS1(a) .args = 1, .arg = { (int64_t)(a) }
#define ARGS2(a, b) .args = 2, .arg = { (int64_t)(a), (int64_t)(b) }
#define ARGS3(a, b, c) .args = 3, .arg = { (int64_t)(a), (int64_t)(b), (int64_t)(c) }
#define ARGS4(a, b, c, d) .args = 4, .arg = { (int64_t)(a), (int64_t)(b), (int64_t)(c), (int64_t)(d) }

/*
 * Failure letters: how a result indicates a failure, and what is recorded as the result. Functions that set errno only
 * sometimes (readdir at the end of a directory) are the quiet ones: errno counts if it has changed.
 *
 *   I   -1, errno                     Z   0, errno
 *   P   NULL, errno; recorded 0, -1   F   a FILE, or NULL, errno; recorded as its descriptor
 *   D   a DIR, likewise               M   MAP_FAILED, errno
 *   E   the error number itself       N   does not fail
 *   QI  quiet -1                      QP  quiet NULL; recorded as 1 (non-NULL) or 0
 *   QC  quiet, fewer than `n` items   QW  quiet WEOF
 *   QS  quiet NULL; recorded as the length of the text, which is shorter than what was
 *       read if that contains a NUL
 *   V   the result is ignored
 */
#define BEFORE_I
#define BEFORE_Z
#define BEFORE_P
#define BEFORE_F
#define BEFORE_D
#define BEFORE_M
#define BEFORE_E
#define BEFORE_N
#define BEFORE_V
#define BEFORE_QI int errno_before = errno;
#define BEFORE_QP int errno_before = errno;
#define BEFORE_QS int errno_before = errno;
#define BEFORE_QC int errno_before = errno;
#define BEFORE_QW int errno_before = errno;

#define RET_I(r) (int64_t)(r)
#define RET_Z(r) (int64_t)(r)
#define RET_P(r) ((r) ? 0 : -1)
#define RET_F(r) ((r) ? stream_fd(r) : -1)
#define RET_D(r) ((r) ? dir_fd(r) : -1)
#define RET_M(r) (int64_t)(uintptr_t)(r)
#define RET_E(r) (int64_t)(r)
#define RET_N(r) (int64_t)(r)
#define RET_V(r) SONDE_NONE
#define RET_QI(r) (int64_t)(r)
#define RET_QP(r) ((r) != NULL)
#define RET_QS(r) ((r) ? (int64_t)strlen(r) : 0)
#define RET_QC(r) (int64_t)(r)
#define RET_QW(r) (int64_t)(int32_t)(r)

#define ERROR_I(r) ((int64_t)(r) == -1 ? errno : 0)
#define ERROR_Z(r) ((r) == 0 ? errno : 0)
#define ERROR_P(r) ((r) == NULL ? errno : 0)
#define ERROR_F(r) ((r) == NULL ? errno : 0)
#define ERROR_D(r) ((r) == NULL ? errno : 0)
#define ERROR_M(r) ((void *)(uintptr_t)(r) == (void *)-1 ? errno : 0)
#define ERROR_E(r) ((int)(r))
#define ERROR_N(r) 0
#define ERROR_V(r) 0
#define ERROR_QI(r) ((int64_t)(r) == -1 && errno != errno_before ? errno : 0)
#define ERROR_QP(r) ((r) == NULL && errno != errno_before ? errno : 0)
#define ERROR_QS(r) ERROR_QP(r)
#define ERROR_QW(r) ((int32_t)(r) == -1 && errno != errno_before ? errno : 0)
#define ERROR_QC(r) ((size_t)(r) < n && errno != errno_before ? errno : 0)

/* The next definition of a hooked function. */
ALWAYS_INLINE void *next_function(unsigned call)
{
	void *found = __atomic_load_n(&real[call], __ATOMIC_RELAXED);
	return likely(found != NULL) ? found : real_find(call);
}
#define REAL(name) ((__typeof__(&name))next_function(CALL_##name))

/* A stream's descriptor, or -1: a field of every glibc FILE, read without side effects. */
ALWAYS_INLINE int stream_fd(FILE *stream)
{
	return stream ? stream->_fileno : -1;
}

/* A directory stream's descriptor; the first field of every glibc DIR. */
ALWAYS_INLINE int dir_fd(void *dir)
{
	return dir ? *(int *)dir : -1;
}

/* After the real call: apply its effect on the descriptor table, and write its record. Both preserve errno. */
void call_done(uint16_t id, uint64_t start, int64_t ret, int errnum, struct call *c);
/* For a call with a known start and end, on a file that was known before. */
void call_done_on(uint16_t id, uint64_t start, uint64_t end, int64_t ret, int errnum, uint64_t file, struct call *c);
/*
 * A record before its call, for calls that do not return. `kind` is CALL or EXEC. Its path is read only if
 * `path_error`, the error of its inspection, proves that it is readable.
 */
void call_start(uint8_t kind, uint16_t id, uint8_t flags, struct call *c);

/*
 * Copy up to a page of the program's memory, if it is mapped. Returns the number of bytes. Not when
 * tracer.is_seccomped.
 */
size_t copy_doubtful(void *to, const void *at, size_t n);

#define SLOW_CALL_TICKS 3000 /* about a microsecond */

/* call_done, inline and for calls without strings: reads and writes must have little overhead. */
ALWAYS_INLINE void call_done_inline(uint16_t id, uint64_t start, int64_t ret, int errnum, const struct call *c)
{
	const size_t bytes = sizeof(struct sonde_rec_call) + 8 * c->args;
	uint64_t end = tick();
	int64_t offset = c->offset;
	if (c->effect == EFFECT_MOVES)
		offset = fds_advance(c->fd, errnum ? 0 : ret);
	if (c->effect == EFFECT_SEEKS && !errnum)
		fds_seeked(c->fd, ret);
	uint64_t file = c->fd >= 0 ? fds_file(c->fd) : 0;
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
	r->fd = c->fd;
	*(uint32_t *)&r->args = c->args; /* no strings, defines nothing, no flags */
	r->size = c->size;
	r->offset = offset;
	for (unsigned i = 0; i < c->args; i++)
		((int64_t *)(r + 1))[i] = c->arg[i];
	ring_commit(&r->head, bytes, SONDE_REC_CALL, id, (uint16_t)errnum);
}

/* One more character through `stream`. */
struct sonde_rec_call *call_run_of(uint16_t id, uint64_t start, FILE *stream);

ALWAYS_INLINE void call_run(uint16_t id, uint64_t start, FILE *stream, bool is_failed)
{
	struct sonde_rec_call *r = thread.runs[0].at;
	if (unlikely(!thread.run_count || thread.runs[0].stream != stream || r->head.call != id)) {
		r = call_run_of(id, start, stream);
		if (!r)
			return;
	}
	r->dur_ticks = tick() - r->ticks;
	r->size += !is_failed;
	*(int64_t *)(r + 1) += 1;
}

/* Wrappers generated from rows. */
#define WRAP(wanted, prelude, done, failure, type, name, parameters, arguments, names, ...) \
	EXPORT type name parameters \
	{ \
		type(*next) parameters = (type(*) parameters)next_function(CALL_##name); \
		if (!tracer_wants(wanted)) \
			return next arguments; \
		prelude; \
		BEFORE_##failure uint64_t start = tick(); \
		type result = next arguments; \
		done(CALL_##name, start, RET_##failure(result), ERROR_##failure(result), CALL(__VA_ARGS__)); \
		return result; \
	}
#define HOOK(how, ...) WRAP(HOW_MASK how, , call_done, __VA_ARGS__)
#define INLINE(how, ...) WRAP(HOW_MASK how, , call_done_inline, __VA_ARGS__)
#define OFFSET(how, ...) WRAP(HOW_MASK how, fds_touch(fd), call_done_inline, __VA_ARGS__)
#define FDCALL(how, ...) WRAP(SONDE_CAT_ALL, , call_done, __VA_ARGS__)
#define PREGROW(how, ...) WRAP(SONDE_CAT_ALL, ring_grow_ahead(), call_done, __VA_ARGS__)
#define VOID(how, name, parameters, arguments, names, ...) \
	EXPORT void name parameters \
	{ \
		void(*next) parameters = (void(*) parameters)next_function(CALL_##name); \
		if (!tracer_wants(HOW_MASK how)) { \
			next arguments; \
			return; \
		} \
		uint64_t start = tick(); \
		next arguments; \
		call_done(CALL_##name, start, SONDE_NONE, 0, CALL(__VA_ARGS__)); \
	}
#define CLOSE(how, failure, type, name, parameters, arguments, ended) \
	EXPORT type name parameters \
	{ \
		type(*next) parameters = (type(*) parameters)next_function(CALL_##name); \
		if (!tracer_wants(SONDE_CAT_ALL)) \
			return next arguments; \
		int fd = ended; \
		uint64_t file = fds_take(fd).file; \
		uint64_t start = tick(); \
		type result = next arguments; \
		call_done_on(CALL_##name, start, tick(), RET_##failure(result), ERROR_##failure(result), file, \
				CALL(.fd = fd)); \
		return result; \
	}
#define CHARIO(how, type, name, parameters, arguments, stream, is_failed) \
	EXPORT type name parameters \
	{ \
		type(*next) parameters = (type(*) parameters)next_function(CALL_##name); \
		if (!tracer_wants(SONDE_CAT_STDIO)) \
			return next arguments; \
		uint64_t start = thread.run_count ? 0 : tick(); \
		type result = next arguments; \
		call_run(CALL_##name, start, stream, is_failed); \
		return result; \
	}
#define MANUAL(how, name, names)
#define SYSCALL(kernel_name, name, letters, effect)
#define SYSNAME(kernel_name, name, letters, effect)

/*
 * `before_<name>` gets the call's first arguments and returns the real function, which then runs as if the program had
 * called it: same registers, same stack.
 */
#define TAILCALL(how, name, names) \
	__asm__(".pushsection .text\n" \
		".globl " #name "\n" \
		".type " #name ", @function\n" #name ":\n" \
		"	leaq before_" #name "(%rip), %r11\n" \
		"	jmp call_tail\n" \
		".size " #name ", . - " #name "\n" \
		".popsection\n");
#define BEFORE __attribute__((used, visibility("hidden"))) void *

#endif

/*
 * expect: how a test program says what the trace of it must contain.
 *
 * After each call it writes the line that ringdump must print for it, made from
 * the values that it got itself. Lines go to the file named by $WANT_FILE by
 * system calls that no hook sees, so that the trace holds nothing but what the
 * program expects: the harness compares the two whole.
 */
#ifndef SONDE_TESTS_PRELOAD_EXPECT_H
#define SONDE_TESTS_PRELOAD_EXPECT_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>

#define NONE INT64_MIN
#define ERR_AUTO (-1) /* errno when ret is -1, else none */

struct want {
	const char *kind; /* "RUN", "EXEC" or NULL */
	const char *call;
	int fd; /* -1: none */
	const char *path, *path2, *text;
	int64_t size, offset, ret; /* NONE: not there */
	int err;
	const char *args; /* " name=value" of the plain arguments, see F */
	int pid, tid;     /* 0: the caller's */
	int is_maybe;     /* recorded only when it took long: right if it is there, right if not */
};

#define WANT(name, ...) \
	want(&(struct want){ .call = #name, \
			.fd = -1, \
			.size = NONE, \
			.offset = NONE, \
			.ret = NONE, \
			.err = ERR_AUTO, \
			__VA_ARGS__ })

void want(const struct want *w);
/* The program cannot show something here: say which call and why. The coverage check takes it for exercised. */
void cannot(const char *call, const char *why);
/* For main to return: it ends like exit, with a status that nobody sees. */
int ended(void);
/* Something is wrong with the program under test itself. */
#define CHECK(condition) check(!!(condition), #condition, __FILE__, __LINE__)
void check(int is_true, const char *what, const char *file, int line);

/* Text of which several live at once; KEEP one for good. */
#define KEEP(text) strdup(text)
const char *F(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *P(const char *relative); /* a path in the working directory, made absolute */
const char *fd_path(int fd);         /* what the kernel calls it */

/* A pointer that nobody may follow, unknown to the compiler. */
extern void *volatile bad;

/* Set-up behind the hooks' back: raw(SYS_close, fd). */
#define raw(...) RAW(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define RAW(number, a, b, c, d, e, f, ...) \
	raw_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
long raw_call(long number, long a, long b, long c, long d, long e, long f);
void raw_file(const char *path, const char *content);
#define raw_open(path, flags) ((int)raw(SYS_openat, -100, path, flags, 0644))
#define raw_close(fd) raw(SYS_close, fd)

#endif

/*
 * err: error reporting.
 *
 * A function that can fail returns 0 or a negative errno. Its last parameter is a `struct sonde_err *`, which it
 * fills with one full sentence ("cannot open 'x': No such file or directory") and, if there is a next step, a hint.
 * Callers that know more prefix their context. Only a main prints. `err` may be NULL if the caller does not need the
 * message.
 *
 * An error is plain storage: no allocation, nothing to release. It must not grow into a log or carry a stack of
 * causes.
 */
#ifndef SONDE_BASE_ERR_H
#define SONDE_BASE_ERR_H

struct sonde_err {
	char text[1024];
	char hint[512];
};

#define SONDE_ERR_INIT { .text = "", .hint = "" }

/* Sets the message; returns -errnum, so that `return err_set(...)` is the whole failure path. */
int err_set(struct sonde_err *err, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Like err_set, and appends ": " and strerror(errnum). */
int err_sys(struct sonde_err *err, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__
/* The analyzer does not see into err.c: errnum is an errno, so these return a negative number. */
static inline int err_negative(int rc)
{
	if (rc >= 0)
		__builtin_unreachable();
	return rc;
}
#define err_set(...) err_negative(err_set(__VA_ARGS__))
#define err_sys(...) err_negative(err_sys(__VA_ARGS__))
#endif

/* Prefixes the message with "context: ". */
void err_prefix(struct sonde_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets the hint, the next step; replaces an earlier hint. */
void err_hint(struct sonde_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif

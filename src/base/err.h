/*
 * err: how a failure travels.
 *
 * A function that can fail returns 0 or a negative errno and, as its last
 * parameter, takes a `struct sonde_err *` that it fills with one full sentence
 * ("cannot open 'x': No such file or directory") and, where there is a next
 * step, a hint. Callers that know more put their context in front. Only a main
 * prints. `err` may be NULL for callers that do not care for words.
 *
 * An error is plain storage: no allocation, nothing to release. It must not
 * grow into a log or carry a stack of causes.
 */
#ifndef SONDE_BASE_ERR_H
#define SONDE_BASE_ERR_H

struct sonde_err {
	char text[1024];
	char hint[512];
};

#define SONDE_ERR_INIT { .text = "", .hint = "" }

/* Say `fmt`; returns -errnum so that `return err_set(...)` is the whole failure path. */
int err_set(struct sonde_err *err, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, with ": " and the system's words for errnum behind it. */
int err_sys(struct sonde_err *err, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__
/* What only err.c can see: errnum is an errno, so these return a negative number. */
static inline int err_negative(int rc)
{
	if (rc >= 0)
		__builtin_unreachable();
	return rc;
}
#define err_set(...) err_negative(err_set(__VA_ARGS__))
#define err_sys(...) err_negative(err_sys(__VA_ARGS__))
#endif

/* Put "context: " before what is there. */
void err_prefix(struct sonde_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Name the next step; the last one said wins. */
void err_hint(struct sonde_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif

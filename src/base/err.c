/* Text that does not fit is truncated: an error report never fails. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* snprintf for messages: truncation is fine, so its result is ignored. */
static void say(char *place, size_t size, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));

static void say(char *place, size_t size, const char *fmt, va_list ap)
{
	if (vsnprintf(place, size, fmt, ap) < 0)
		place[0] = '\0';
}

static void append(struct sonde_err *err, const char *text)
{
	size_t len = strlen(err->text);

	snprintf(err->text + len, sizeof(err->text) - len, "%s", text);
}

int(err_set)(struct sonde_err *err, int errnum, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -errnum;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	say(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -errnum;
}

int(err_sys)(struct sonde_err *err, int errnum, const char *fmt, ...)
{
	char words[128];
	va_list ap;

	if (!err)
		return -errnum;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	say(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	append(err, ": ");
	append(err, strerror_r(errnum, words, sizeof(words)));
	return -errnum;
}

void err_prefix(struct sonde_err *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;

	if (!err)
		return;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	say(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	append(err, ": ");
	append(err, old);
}

void err_hint(struct sonde_err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	say(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
}

#include "serve/form.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes %XX and '+'; a NUL byte is an error. */
static int decode(const char *text, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		int high, low;

		if (text[i] != '%') {
			buf_addc(out, text[i] == '+' ? ' ' : text[i]);
			continue;
		}
		high = i + 2 < n ? digit(text[i + 1]) : -1;
		low = i + 2 < n ? digit(text[i + 2]) : -1;
		if (high < 0 || low < 0 || !(high | low))
			return -EINVAL;
		buf_addc(out, (char)(high << 4 | low));
		i += 2;
	}
	return 0;
}

int form_field(const struct buf *body, const char *name, struct buf *out, bool *is_there, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	const char *at = body->data, *end = body->data + body->len;
	int rc = 0;

	*is_there = false;
	while (at < end && rc == 0) {
		const char *next = memchr(at, '&', (size_t)(end - at));
		const char *stop = next ? next : end, *equals = memchr(at, '=', (size_t)(stop - at));

		buf_reset(&key);
		rc = decode(at, (size_t)((equals ? equals : stop) - at), &key);
		if (rc == 0 && strcmp(key.data, name) == 0) {
			*is_there = true;
			if (equals)
				rc = decode(equals + 1, (size_t)(stop - equals - 1), out);
			break;
		}
		at = stop + 1;
	}
	return rc < 0 ? err_set(err, EINVAL, "the form is malformed") : buf_error(out);
}

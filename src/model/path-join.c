#include "model/path-join.h"

#include <stdbool.h>
#include <string.h>

static bool is_absolute(const struct store_text *t)
{
	return t->bytes > 0 && t->data[0] == '/';
}

static bool is_nothing(const char *part, size_t n)
{
	return n == 0 || (n == 1 && part[0] == '.');
}

/* Append the components of a path; out[start..] is the path so far. */
static void add_parts(struct buf *out, size_t start, const struct store_text *t)
{
	const char *at = t->data, *end = at + t->bytes;

	while (at < end) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		size_t n = (size_t)((slash ? slash : end) - at);

		if (!is_nothing(at, n)) {
			if (out->len > start && out->data[out->len - 1] != '/')
				buf_addc(out, '/');
			buf_add(out, at, n);
		}
		at += n + 1;
	}
}

void model_path_join(struct buf *out, const struct store_text *base, const struct store_text *name)
{
	size_t start = out->len;

	if (is_absolute(name))
		base = NULL;
	if (is_absolute(base ? base : name))
		buf_addc(out, '/');
	if (base)
		add_parts(out, start, base);
	add_parts(out, start, name);
	if (out->len == start)
		buf_addc(out, '.');
}

/* See exposition.h. */
#include "live/exposition.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *word, *openmetrics_word, *sample_suffix;
} types[] = {
	[EXPOSITION_COUNTER] = { "counter", "counter", "_total" },
	[EXPOSITION_GAUGE] = { "gauge", "gauge", "" },
	[EXPOSITION_HISTOGRAM] = { "histogram", "histogram", "" },
	[EXPOSITION_SUMMARY] = { "summary", "summary", "" },
	[EXPOSITION_INFO] = { "gauge", "info", "_info" },
};

/* The older format names families as their samples. */
void exposition_family(struct exposition *x, const char *name, enum exposition_type type, const char *help)
{
	const char *suffix = x->is_openmetrics ? "" : types[type].sample_suffix;

	snprintf(x->name, sizeof(x->name), "%s", name);
	x->type = type;
	buf_addf(x->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix,
			x->is_openmetrics ? types[type].openmetrics_word : types[type].word);
}

/* The bytes of the UTF-8 character that begins here; 0: none does. */
static size_t character_bytes(const unsigned char *p)
{
	size_t n = *p < 0x80                      ? 1
			: *p >= 0xc2 && *p < 0xe0 ? 2
			: *p >= 0xe0 && *p < 0xf0 ? 3
			: *p >= 0xf0 && *p < 0xf5 ? 4
						  : 0;

	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/* Escaped; bytes that are not UTF-8 become '?', since readers refuse the whole page for one of them. */
static void add_value(struct buf *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	for (size_t n; *p; p += n ? n : 1) {
		n = character_bytes(p);
		if (!n)
			buf_addc(out, '?');
		else if (*p == '\n')
			buf_adds(out, "\\n");
		else if (*p == '"' || *p == '\\')
			buf_addf(out, "\\%c", *p);
		else
			buf_add(out, p, n);
	}
}

static void add_number(struct buf *out, double value)
{
	if (isnan(value))
		buf_adds(out, "NaN");
	else if (isinf(value))
		buf_adds(out, value > 0 ? "+Inf" : "-Inf");
	else
		buf_addf(out, "%.17g", value);
}

void exposition_sample(struct exposition *x, const char *suffix, double value, ...)
{
	const char *key;
	char before = '{';
	va_list ap;

	buf_addf(x->out, "%s%s%s", x->name, types[x->type].sample_suffix, suffix);
	va_start(ap, value);
	while ((key = va_arg(ap, const char *))) {
		buf_addf(x->out, "%c%s=\"", before, key);
		add_value(x->out, va_arg(ap, const char *));
		buf_addc(x->out, '"');
		before = ',';
	}
	va_end(ap);
	buf_adds(x->out, before == ',' ? "} " : " ");
	add_number(x->out, value);
	buf_addc(x->out, '\n');
}

void exposition_end(struct exposition *x)
{
	if (x->is_openmetrics)
		buf_adds(x->out, "# EOF\n");
}

void exposition_name(char *out, size_t size, const char *prefix, const char *text)
{
	size_t n = (size_t)snprintf(out, size, "%s", prefix);

	for (const char *p = text; *p && n + 3 < size; p++) {
		bool is_upper = isupper((unsigned char)*p);

		if (is_upper && p > text && islower((unsigned char)p[-1]))
			out[n++] = '_';
		out[n++] = isalnum((unsigned char)*p) ? (char)tolower((unsigned char)*p) : '_';
	}
	out[n] = '\0';
}

#include "exchange/chrome-line.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static void write_line(struct chrome_line *c)
{
	if (!c->error && c->line.is_failed)
		c->error = -ENOMEM;
	errno = 0;
	if (!c->error && fwrite(c->line.data, 1, c->line.len, c->out) != c->line.len)
		c->error = errno ? -errno : -EIO;
	c->line.len = 0;
}

void chrome_raw(struct chrome_line *c, const char *text)
{
	jsonline_add(&c->line, text, strlen(text));
	write_line(c);
}

void chrome_int(struct chrome_line *c, const char *key, int64_t value)
{
	jsonline_add(&c->line, key, strlen(key));
	jsonline_int(&c->line, value);
}

void chrome_time(struct chrome_line *c, const char *key, int64_t ns)
{
	jsonline_add(&c->line, key, strlen(key));
	jsonline_us(&c->line, ns);
}

void chrome_start(struct chrome_line *c, const char *phase, int64_t pid, int64_t tid, const struct store_text *name,
		const struct store_text *category)
{
	static const struct store_text nameless = { .data = "?", .bytes = 1 };

	jsonline_add(&c->line, ",\n", c->has_events ? 2 : 0);
	c->has_events = true;
	c->has_args = false;
	JSONLINE_ADD(&c->line, "{\"ph\":\"");
	jsonline_add(&c->line, phase, 1);
	chrome_int(c, "\",\"pid\":", pid == STORE_NULL ? 0 : pid);
	chrome_int(c, ",\"tid\":", tid == STORE_NULL ? 0 : tid);
	JSONLINE_ADD(&c->line, ",\"name\":");
	jsonline_text(&c->line, name ? name : &nameless);
	if (category) {
		JSONLINE_ADD(&c->line, ",\"cat\":");
		jsonline_text(&c->line, category);
	}
}

static const char *before_arg(const struct chrome_line *c)
{
	return c->has_args ? "," : ",\"args\":{";
}

static void arg_name(struct chrome_line *c, const char *name)
{
	const char *before = before_arg(c);

	jsonline_add(&c->line, before, strlen(before));
	c->has_args = true;
	jsonline_str(&c->line, name);
	JSONLINE_ADD(&c->line, ":");
}

void chrome_arg_int(struct chrome_line *c, const char *name, int64_t value)
{
	if (value == STORE_NULL)
		return;
	arg_name(c, name);
	jsonline_int(&c->line, value);
}

void chrome_arg_real(struct chrome_line *c, const char *name, double value)
{
	if (!isfinite(value))
		return;
	arg_name(c, name);
	jsonline_real(&c->line, value);
}

void chrome_arg_text(struct chrome_line *c, const char *name, const struct store_text *text)
{
	if (!text || !text->data)
		return;
	arg_name(c, name);
	jsonline_text(&c->line, text);
}

void chrome_arg_str(struct chrome_line *c, const char *name, const char *text)
{
	struct store_text whole = { .data = text, .bytes = text ? strlen(text) : 0 };

	chrome_arg_text(c, name, &whole);
}

void chrome_args(struct chrome_line *c, const struct store_text *object)
{
	c->has_args |= jsonline_members(&c->line, object, before_arg(c));
}

void chrome_end(struct chrome_line *c)
{
	if (c->has_args)
		JSONLINE_ADD(&c->line, "}}");
	else
		JSONLINE_ADD(&c->line, "}");
	write_line(c);
}

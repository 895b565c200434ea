#include "exchange/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void csv_release(struct csv *c)
{
	buf_release(&c->line);
}

static void next_cell(struct csv *c)
{
	if (c->has_cells)
		buf_addc(&c->line, ',');
	c->has_cells = true;
}

void csv_int(struct csv *c, int64_t v)
{
	next_cell(c);
	if (v != STORE_NULL)
		buf_addf(&c->line, "%" PRId64, v);
}

void csv_real(struct csv *c, double v)
{
	char text[40];

	next_cell(c);
	if (isnan(v))
		return;
	snprintf(text, sizeof(text), "%.15g", v);
	if (strtod(text, NULL) != v)
		snprintf(text, sizeof(text), "%.17g", v);
	buf_adds(&c->line, text);
}

void csv_fixed(struct csv *c, double v)
{
	next_cell(c);
	if (!isnan(v))
		buf_addf(&c->line, "%.6f", v);
}

/* Quotes distinguish an empty text from null. */
static bool needs_quotes(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strchr(",\"\r\n", text[i]))
			return true;
	return n == 0 || text[0] == ' ' || text[n - 1] == ' ';
}

void csv_text(struct csv *c, const char *text, size_t n)
{
	next_cell(c);
	if (!text)
		return;
	if (!needs_quotes(text, n)) {
		buf_add(&c->line, text, n);
		return;
	}
	buf_addc(&c->line, '"');
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '"')
			buf_addc(&c->line, '"');
		buf_addc(&c->line, text[i]);
	}
	buf_addc(&c->line, '"');
}

void csv_str(struct csv *c, const char *text)
{
	csv_text(c, text, text ? strlen(text) : 0);
}

void csv_end(struct csv *c)
{
	buf_addc(&c->line, '\n');
	if (c->error == 0 && buf_error(&c->line))
		c->error = -ENOMEM;
	if (c->error == 0 && fwrite(c->line.data, 1, c->line.len, c->out) != c->line.len)
		c->error = errno ? -errno : -EIO;
	buf_reset(&c->line);
	c->has_cells = false;
}

/*
 * csv: one table of a run as comma-separated values: a line with the column names, then one line per row, in time
 * order. String ids are written as strings, file ids as paths.
 */
#include "exchange/csv.h"

#include "exchange/exchange.h"
#include "model/dimensions.h"
#include "model/rows.h"

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

static void put_text(struct csv *c, const struct store_text *text)
{
	csv_text(c, text ? text->data : NULL, text ? text->bytes : 0);
}

static void put_number(struct csv *c, struct model_run *run, enum store_semantic semantic, int64_t v)
{
	if (semantic == STORE_STRING) {
		put_text(c, model_name(run, v));
	} else if (semantic == STORE_FILE) {
		struct store_text path = model_file_path(run, v);
		put_text(c, &path);
	} else {
		csv_int(c, v);
	}
}

/* The ids of the string and file tables themselves are written as numbers. */
static bool is_own_id(const struct store_schema *schema, unsigned column)
{
	return column == 0 && (schema == &store_string_schema || schema == &store_file_schema);
}

static void put_cell(struct csv *c, struct model_run *run, const struct store_schema *schema, unsigned column,
		const int64_t *row)
{
	const struct store_column_schema *s = &schema->columns[column];
	const struct store_text *text;
	double real;

	memcpy(&text, &row[column], sizeof(text));
	memcpy(&real, &row[column], sizeof(real));
	if (s->kind == STORE_TEXT)
		put_text(c, text);
	else if (s->kind == STORE_REAL)
		csv_real(c, real);
	else
		put_number(c, run, is_own_id(schema, column) ? STORE_PLAIN : s->semantic, row[column]);
}

static int put_rows(struct csv *c, struct model_run *run, const struct exchange_options *options, struct sonde_err *err)
{
	const struct store_schema *schema = store_schemas[options->table];
	struct model_rows *rows;
	const void *row;
	int rc = model_rows_open(&rows, model_table(run, options->table), &options->range, err);

	if (rc < 0)
		return rc;
	while ((rc = model_rows_next(rows, &row, err)) == 0 && row && !c->error) {
		for (unsigned i = 0; i < schema->count; i++)
			put_cell(c, run, schema, i, row);
		csv_end(c);
	}
	model_rows_free(rows);
	return rc;
}

static int write_run(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err)
{
	const struct store_schema *schema = store_schemas[options->table];
	struct csv c = CSV_INIT(out);
	int rc = model_load(run, MODEL_NAMES | MODEL_FILES, err);

	if (rc == 0) {
		for (unsigned i = 0; i < schema->count; i++)
			csv_str(&c, schema->columns[i].name);
		csv_end(&c);
		rc = put_rows(&c, run, options, err);
	}
	if (rc == 0 && c.error)
		rc = err_sys(err, -c.error, "cannot write the table");
	csv_release(&c);
	return rc;
}

const struct exchange_format exchange_csv = {
	.name = "csv",
	.extension = ".csv",
	.what = "One table as comma-separated values.",
	.has_table = true,
	.write = write_run,
};

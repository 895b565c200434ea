#include "duet/measurements.h"

#include "base/json.h"
#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void duet_table_release(struct duet_table *t)
{
	free(t->rows);
	map_release(&t->names);
	arena_release(&t->arena);
	*t = (struct duet_table)DUET_TABLE_INIT;
}

struct duet_row *duet_table_add(struct duet_table *t)
{
	if (!VEC_GROW(t->rows, t->capacity, t->count + 1, DUET_ROWS_MAX))
		return NULL;
	t->rows[t->count] = (struct duet_row){ .iteration = -1,
		.runid = -1,
		.start_ns = DUET_UNKNOWN_NS,
		.end_ns = DUET_UNKNOWN_NS,
		.time_ns = NAN,
		.cpu_ns = NAN,
		.value = NAN };
	return &t->rows[t->count++];
}

size_t duet_table_column(struct duet_table *t, const char *name)
{
	bool is_new;
	uint64_t *place = map_put(&t->names, name, strlen(name), &is_new);

	if (!place)
		return SIZE_MAX;
	if (!is_new)
		return (size_t)*place;
	*place = t->column_count < DUET_COLUMNS_MAX ? t->column_count : UINT64_MAX;
	if (*place == UINT64_MAX)
		return SIZE_MAX;
	t->columns[t->column_count] = arena_strdup(&t->arena, name);
	return t->columns[t->column_count] ? t->column_count++ : SIZE_MAX;
}

int duet_table_put(struct duet_table *t, struct duet_row *row, const char *column, const char *text)
{
	size_t c = duet_table_column(t, column);

	if (c == SIZE_MAX)
		return t->column_count < DUET_COLUMNS_MAX ? -ENOMEM : 0;
	if (c >= row->cell_count) {
		const char **cells = arena_alloc(&t->arena, (c + 8) * sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		if (row->cell_count)
			memcpy(cells, row->cells, row->cell_count * sizeof(*cells));
		row->cells = cells;
		row->cell_count = c + 8;
	}
	row->cells[c] = arena_strdup(&t->arena, text);
	return row->cells[c] ? 0 : -ENOMEM;
}

int duet_table_putf(struct duet_table *t, struct duet_row *row, const char *column, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	rc = buf_error(&text) ? -ENOMEM : duet_table_put(t, row, column, text.data);
	buf_release(&text);
	return rc;
}

/* The columns that every row has; INT64_MIN, NaN and NULL mean absent. */
enum field_kind { FIELD_TEXT, FIELD_CHAR, FIELD_INT, FIELD_REAL };

static const struct field {
	const char *name;
	enum field_kind kind;
	size_t offset;
} fields[] = {
	{ "suite", FIELD_TEXT, offsetof(struct duet_row, suite) },
	{ "benchmark", FIELD_TEXT, offsetof(struct duet_row, benchmark) },
	{ "type", FIELD_TEXT, offsetof(struct duet_row, type) },
	{ "order", FIELD_TEXT, offsetof(struct duet_row, order) },
	{ "pair", FIELD_CHAR, offsetof(struct duet_row, pair) },
	{ "runid", FIELD_INT, offsetof(struct duet_row, runid) },
	{ "iteration", FIELD_INT, offsetof(struct duet_row, iteration) },
	{ "iteration_start_ns", FIELD_INT, offsetof(struct duet_row, start_ns) },
	{ "iteration_end_ns", FIELD_INT, offsetof(struct duet_row, end_ns) },
	{ "iteration_time_ns", FIELD_REAL, offsetof(struct duet_row, time_ns) },
};

enum { FIELDS = sizeof(fields) / sizeof(*fields) };

static const char *field_text(const struct duet_row *row, const struct field *f)
{
	return *(const char *const *)((const char *)row + f->offset);
}

static int64_t field_int(const struct duet_row *row, const struct field *f)
{
	return *(const int64_t *)((const char *)row + f->offset);
}

static double field_real(const struct duet_row *row, const struct field *f)
{
	return *(const double *)((const char *)row + f->offset);
}

void duet_csv_cell(struct buf *out, const char *text)
{
	if (!text)
		return;
	if (!strpbrk(text, ",\"\r\n")) {
		buf_adds(out, text);
		return;
	}
	buf_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_addc(out, '"');
		buf_addc(out, *text);
	}
	buf_addc(out, '"');
}

static void csv_row(const struct duet_table *t, const struct duet_row *row, struct buf *out)
{
	for (size_t i = 0; i < FIELDS; i++) {
		if (i)
			buf_addc(out, ',');
		if (fields[i].kind == FIELD_TEXT)
			duet_csv_cell(out, field_text(row, &fields[i]));
		else if (fields[i].kind == FIELD_CHAR && row->pair)
			buf_addc(out, row->pair);
		else if (fields[i].kind == FIELD_INT && field_int(row, &fields[i]) != DUET_UNKNOWN_NS)
			buf_addf(out, "%" PRId64, field_int(row, &fields[i]));
		else if (fields[i].kind == FIELD_REAL && isfinite(field_real(row, &fields[i])))
			buf_addf(out, DUET_NS_FORMAT, field_real(row, &fields[i]));
	}
	for (size_t c = 0; c < t->column_count; c++) {
		buf_addc(out, ',');
		duet_csv_cell(out, c < row->cell_count ? row->cells[c] : NULL);
	}
	buf_addc(out, '\n');
}

void duet_table_csv(const struct duet_table *t, struct buf *out)
{
	for (size_t i = 0; i < FIELDS; i++)
		buf_addf(out, "%s%s", i ? "," : "", fields[i].name);
	for (size_t c = 0; c < t->column_count; c++) {
		buf_addc(out, ',');
		duet_csv_cell(out, t->columns[c]);
	}
	buf_addc(out, '\n');
	for (size_t i = 0; i < t->count; i++)
		csv_row(t, &t->rows[i], out);
}

static void json_field(struct json *j, const struct duet_row *row, const struct field *f)
{
	if (f->kind == FIELD_TEXT && field_text(row, f)) {
		json_kstr(j, f->name, field_text(row, f));
	} else if (f->kind == FIELD_CHAR && row->pair) {
		json_key(j, f->name);
		json_strn(j, &row->pair, 1);
	} else if (f->kind == FIELD_INT && field_int(row, f) != DUET_UNKNOWN_NS) {
		json_kint(j, f->name, field_int(row, f));
	} else if (f->kind == FIELD_REAL && isfinite(field_real(row, f))) {
		json_kreal(j, f->name, field_real(row, f));
	}
}

void duet_table_json(const struct duet_table *t, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_array(&j);
	for (size_t i = 0; i < t->count; i++) {
		json_object(&j);
		for (size_t f = 0; f < FIELDS; f++)
			json_field(&j, &t->rows[i], &fields[f]);
		for (size_t c = 0; c < t->rows[i].cell_count && c < t->column_count; c++)
			if (t->rows[i].cells[c])
				json_kstr(&j, t->columns[c], t->rows[i].cells[c]);
		json_end(&j);
	}
	json_end(&j);
	buf_addc(out, '\n');
}

/* Parses the field at *at in place; *at moves past its comma, or becomes NULL. */
static char *csv_field(char **at)
{
	char *from = *at, *to = from, *start = from;
	bool is_quoted = *from == '"';

	from += is_quoted;
	while (*from && (is_quoted || *from != ',')) {
		if (is_quoted && *from == '"') {
			if (from[1] != '"') {
				is_quoted = false;
				from++;
				continue;
			}
			from++;
		}
		*to++ = *from++;
	}
	*at = *from == ',' ? from + 1 : NULL;
	*to = '\0';
	return start;
}

size_t duet_csv_split(char *line, char **out, size_t most)
{
	size_t n = 0, len = strcspn(line, "\r\n");

	line[len] = '\0';
	for (char *at = line; at && n < most; n++)
		out[n] = csv_field(&at);
	return n;
}

/*
 * A row as a line of aligned columns. A value is written to `scratch` and padded from there. External text passes
 * through term_safe.
 */
#include "base/cleanup.h"
#include "cli/events.h"
#include "result/term.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAP "  "
#define TIME_DIGITS 9

typedef void text_fn(struct event_writer *w, const int64_t *row, int col);

static void add_unknown(struct event_writer *w)
{
	buf_addc(&w->scratch, '-');
}

static bool is_plain(const struct store_text *text)
{
	for (size_t i = 0; i < text->bytes; i++)
		if (text->data[i] < 0x20 || text->data[i] == 0x7f)
			return false;
	return true;
}

static void add_text(struct event_writer *w, const struct store_text *text)
{
	CLEANUP(buf_release) struct buf copy = BUF_INIT;

	if (!text || !text->data) {
		add_unknown(w);
	} else if (is_plain(text)) {
		buf_add(&w->scratch, text->data, text->bytes);
	} else {
		buf_add(&copy, text->data, text->bytes);
		term_safe(&w->scratch, copy.data);
	}
}

static void write_int(struct event_writer *w, const int64_t *row, int col)
{
	if (event_int(row, col) == STORE_NULL)
		add_unknown(w);
	else
		buf_addf(&w->scratch, "%" PRId64, event_int(row, col));
}

static void write_time(struct event_writer *w, const int64_t *row, int col)
{
	int64_t ns = event_int(row, col), since_ns;
	uint64_t size;

	if (ns == STORE_NULL || __builtin_sub_overflow(ns, w->start_ns, &since_ns)) {
		add_unknown(w);
		return;
	}
	size = since_ns < 0 ? -(uint64_t)since_ns : (uint64_t)since_ns;
	buf_addf(&w->scratch, "%s%" PRIu64 ".%0*" PRIu64, since_ns < 0 ? "-" : "", size / 1000000000, TIME_DIGITS,
			size % 1000000000);
}

static void write_duration(struct event_writer *w, const int64_t *row, int col)
{
	char text[TERM_TEXT];

	if (event_int(row, col) == STORE_NULL)
		add_unknown(w);
	else
		buf_adds(&w->scratch, term_ns(text, event_int(row, col)));
}

static void write_real(struct event_writer *w, const int64_t *row, int col)
{
	double value = event_real(row, col);

	if (isnan(value))
		add_unknown(w);
	else
		buf_addf(&w->scratch, "%.6g", value);
}

static void write_flag(struct event_writer *w, const int64_t *row, int col)
{
	buf_adds(&w->scratch, event_int(row, col) == STORE_NULL ? "-" : event_int(row, col) ? "yes" : "no");
}

static void write_string(struct event_writer *w, const int64_t *row, int col)
{
	add_text(w, model_name(w->run, event_int(row, col)));
}

static void write_path(struct event_writer *w, const int64_t *row, int col)
{
	struct store_text path = model_file_path(w->run, event_int(row, col));

	add_text(w, &path);
}

static void write_plain(struct event_writer *w, const int64_t *row, int col)
{
	add_text(w, event_text(row, col));
}

/* Arguments separated by blanks; each ends in a NUL. */
static void write_words(struct event_writer *w, const int64_t *row, int col)
{
	const struct store_text *text = event_text(row, col);
	CLEANUP(buf_release) struct buf copy = BUF_INIT;

	if (!text) {
		add_unknown(w);
		return;
	}
	buf_add(&copy, text->data, text->bytes && !text->data[text->bytes - 1] ? text->bytes - 1 : text->bytes);
	for (size_t i = 0; i < copy.len; i++)
		copy.data[i] = copy.data[i] ? copy.data[i] : ' ';
	term_safe(&w->scratch, copy.data);
}

/* Arguments that are not printed in decimal. */
static const struct {
	const char *name;
	bool is_octal; /* else hexadecimal */
} bits[] = {
	{ "mode", true },
	{ "mask", true },
	{ "flags", false },
	{ "prot", false },
	{ "addr", false },
};

static void add_number(struct event_writer *w, const char *name, int64_t value)
{
	for (size_t i = 0; value > 0 && i < sizeof(bits) / sizeof(*bits); i++)
		if (strcmp(name, bits[i].name) == 0) {
			if (bits[i].is_octal)
				buf_addf(&w->scratch, "%#" PRIo64, (uint64_t)value);
			else
				buf_addf(&w->scratch, "%#" PRIx64, (uint64_t)value);
			return;
		}
	buf_addf(&w->scratch, "%" PRId64, value);
}

static void add_arg(struct event_writer *w, const char *name, int64_t value, const char **comma)
{
	if (!name || value == STORE_NULL)
		return;
	buf_adds(&w->scratch, *comma);
	term_safe(&w->scratch, name);
	buf_addc(&w->scratch, '=');
	add_number(w, name, value);
	*comma = ", ";
}

static void add_result(struct event_writer *w, const int64_t *row)
{
	int64_t ret = row[STORE_IO_ret], errnum = row[STORE_IO_errnum];
	const char *name = errnum > 0 && errnum <= INT32_MAX ? strerrorname_np((int)errnum) : NULL;

	if (ret == STORE_NULL)
		buf_adds(&w->scratch, " -> ?");
	else if (ret > UINT32_MAX) /* addresses */
		buf_addf(&w->scratch, " -> %#" PRIx64, (uint64_t)ret);
	else
		buf_addf(&w->scratch, " -> %" PRId64, ret);
	if (name)
		buf_addf(&w->scratch, " %s", name);
	else if (errnum > 0)
		buf_addf(&w->scratch, " errno %" PRId64, errnum);
}

static void write_call(struct event_writer *w, const int64_t *row, int col)
{
	const struct model_call *call = model_call(w->run, event_int(row, col));
	const char *comma = "";

	write_string(w, row, col);
	buf_addc(&w->scratch, '(');
	add_arg(w, "fd", row[STORE_IO_fd], &comma);
	add_arg(w, "size", row[STORE_IO_size], &comma);
	add_arg(w, "offset", row[STORE_IO_offset], &comma);
	for (int i = 0; i < MODEL_ARGS_MAX; i++)
		add_arg(w, model_arg_name(call, i, row[STORE_IO_arg0 + i]), row[STORE_IO_arg0 + i], &comma);
	if (event_text(row, STORE_IO_text)) {
		buf_adds(&w->scratch, comma);
		buf_addc(&w->scratch, '"');
		write_plain(w, row, STORE_IO_text);
		buf_addc(&w->scratch, '"');
	}
	buf_addc(&w->scratch, ')');
	add_result(w, row);
}

static void write_paths(struct event_writer *w, const int64_t *row, int col)
{
	if (row[col] != STORE_NULL || row[STORE_IO_file2] != STORE_NULL)
		write_path(w, row, col);
	if (row[STORE_IO_file2] != STORE_NULL) {
		buf_adds(&w->scratch, ", ");
		write_path(w, row, STORE_IO_file2);
	}
}

static text_fn *const text_writers[EVENT_HOWS] = {
	[EVENT_INT] = write_int,
	[EVENT_TIME] = write_time,
	[EVENT_DURATION] = write_duration,
	[EVENT_REAL] = write_real,
	[EVENT_FLAG] = write_flag,
	[EVENT_STRING] = write_string,
	[EVENT_PATH] = write_path,
	[EVENT_TEXT] = write_plain,
	[EVENT_OBJECT] = write_plain,
	[EVENT_WORDS] = write_words,
	[EVENT_NAMES] = write_plain,
	[EVENT_CALL] = write_call,
	[EVENT_PATHS] = write_paths,
};

static void pad(struct buf *out, const char *text, int width)
{
	static const char blanks[] = "                                                ";
	size_t columns = term_columns(text), wanted = (size_t)abs(width);
	size_t fill = columns < wanted ? wanted - columns : 0;

	if (fill > sizeof(blanks) - 1)
		fill = sizeof(blanks) - 1;
	buf_add(out, blanks, width > 0 ? fill : 0);
	buf_adds(out, text);
	buf_add(out, blanks, width < 0 ? fill : 0);
}

static void end_line(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_addc(out, '\n');
}

void event_write_titles(struct event_writer *w)
{
	const char *gap = "";

	for (const struct event_field *f = w->table->fields; f->how != EVENT_HOWS; f++) {
		if (!f->title)
			continue;
		buf_adds(w->out, gap);
		pad(w->out, f->title, f->width);
		gap = GAP;
	}
	end_line(w->out);
}

void event_write_text(struct event_writer *w, const int64_t *row)
{
	const char *gap = "";

	for (const struct event_field *f = w->table->fields; f->how != EVENT_HOWS; f++) {
		if (!f->title)
			continue;
		buf_reset(&w->scratch);
		text_writers[f->how](w, row, f->col);
		buf_adds(w->out, gap);
		pad(w->out, w->scratch.data, f->width);
		gap = GAP;
	}
	end_line(w->out);
}

/* A row as a JSON object. Unknown values are null, and every key is always present. */

typedef void json_fn(struct event_writer *w, const int64_t *row, int col);

static void json_write_int(struct event_writer *w, const int64_t *row, int col)
{
	jsonline_int(&w->line, event_int(row, col));
}

static void json_write_real(struct event_writer *w, const int64_t *row, int col)
{
	jsonline_real(&w->line, event_real(row, col));
}

static void json_write_flag(struct event_writer *w, const int64_t *row, int col)
{
	if (event_int(row, col) == STORE_NULL)
		JSONLINE_ADD(&w->line, "null");
	else if (event_int(row, col))
		JSONLINE_ADD(&w->line, "true");
	else
		JSONLINE_ADD(&w->line, "false");
}

static void json_write_string(struct event_writer *w, const int64_t *row, int col)
{
	jsonline_text(&w->line, model_name(w->run, event_int(row, col)));
}

static void json_write_path(struct event_writer *w, const int64_t *row, int col)
{
	struct store_text path = model_file_path(w->run, event_int(row, col));

	jsonline_text(&w->line, &path);
}

static void json_write_plain(struct event_writer *w, const int64_t *row, int col)
{
	jsonline_text(&w->line, event_text(row, col));
}

static void write_object(struct event_writer *w, const int64_t *row, int col)
{
	jsonline_object(&w->line, event_text(row, col));
}

static void add_list(struct jsonline *l, const struct store_text *text, char end)
{
	const char *at, *stop;

	if (!text) {
		JSONLINE_ADD(l, "null");
		return;
	}
	at = text->data;
	stop = at + text->bytes;
	JSONLINE_ADD(l, "[");
	while (at < stop) {
		const char *next = memchr(at, end, (size_t)(stop - at));
		struct store_text word = { .data = at, .bytes = (size_t)((next ? next : stop) - at) };

		if (at > text->data)
			JSONLINE_ADD(l, ",");
		jsonline_text(l, &word);
		at = next ? next + 1 : stop;
	}
	JSONLINE_ADD(l, "]");
}

static void json_write_words(struct event_writer *w, const int64_t *row, int col)
{
	add_list(&w->line, event_text(row, col), '\0');
}

static void write_names(struct event_writer *w, const int64_t *row, int col)
{
	add_list(&w->line, event_text(row, col), ',');
}

static void write_category(struct event_writer *w, const int64_t *row, int col)
{
	const struct model_call *call = model_call(w->run, event_int(row, col));

	jsonline_text(&w->line, call ? call->category : NULL);
}

static void write_error(struct event_writer *w, const int64_t *row, int col)
{
	int64_t errnum = event_int(row, col);

	jsonline_str(&w->line, errnum > 0 && errnum <= INT32_MAX ? strerrorname_np((int)errnum) : NULL);
}

static void write_args(struct event_writer *w, const int64_t *row, int col)
{
	const struct model_call *call = model_call(w->run, row[STORE_IO_call]);
	bool is_first = true;

	JSONLINE_ADD(&w->line, "{");
	for (int i = 0; i < MODEL_ARGS_MAX; i++) {
		const char *name = model_arg_name(call, i, row[col + i]);

		if (!name)
			continue;
		if (!is_first)
			JSONLINE_ADD(&w->line, ",");
		is_first = false;
		jsonline_str(&w->line, name);
		JSONLINE_ADD(&w->line, ":");
		json_write_int(w, row, col + i);
	}
	jsonline_members(&w->line, event_text(row, STORE_IO_args), is_first ? "" : ",");
	JSONLINE_ADD(&w->line, "}");
}

static json_fn *const json_writers[EVENT_HOWS] = {
	[EVENT_INT] = json_write_int,
	[EVENT_TIME] = json_write_int,
	[EVENT_DURATION] = json_write_int,
	[EVENT_REAL] = json_write_real,
	[EVENT_FLAG] = json_write_flag,
	[EVENT_STRING] = json_write_string,
	[EVENT_PATH] = json_write_path,
	[EVENT_TEXT] = json_write_plain,
	[EVENT_OBJECT] = write_object,
	[EVENT_WORDS] = json_write_words,
	[EVENT_NAMES] = write_names,
	[EVENT_CATEGORY] = write_category,
	[EVENT_ERROR] = write_error,
	[EVENT_ARGS] = write_args,
};

void event_write_json(struct event_writer *w, const int64_t *row)
{
	w->line.len = 0;
	for (const struct event_field *f = w->table->fields; f->how != EVENT_HOWS; f++) {
		if (!f->key)
			continue;
		jsonline_add(&w->line, w->line.len ? "," : "{", 1);
		jsonline_add(&w->line, f->key, f->key_bytes);
		json_writers[f->how](w, row, f->col);
	}
	JSONLINE_ADD(&w->line, "}\n");
	buf_add(w->out, w->line.data, w->line.len);
}

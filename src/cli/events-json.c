/*
 * A row as a JSON object. Unknown values are null, and every key is always present.
 */
#include "cli/events.h"

#include <string.h>

typedef void json_fn(struct event_writer *w, const int64_t *row, int col);

static void write_int(struct event_writer *w, const int64_t *row, int col)
{
	jsonline_int(&w->line, event_int(row, col));
}

static void write_real(struct event_writer *w, const int64_t *row, int col)
{
	jsonline_real(&w->line, event_real(row, col));
}

static void write_flag(struct event_writer *w, const int64_t *row, int col)
{
	if (event_int(row, col) == STORE_NULL)
		JSONLINE_ADD(&w->line, "null");
	else if (event_int(row, col))
		JSONLINE_ADD(&w->line, "true");
	else
		JSONLINE_ADD(&w->line, "false");
}

static void write_string(struct event_writer *w, const int64_t *row, int col)
{
	jsonline_text(&w->line, model_name(w->run, event_int(row, col)));
}

static void write_path(struct event_writer *w, const int64_t *row, int col)
{
	struct store_text path = model_file_path(w->run, event_int(row, col));

	jsonline_text(&w->line, &path);
}

static void write_plain(struct event_writer *w, const int64_t *row, int col)
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

static void write_words(struct event_writer *w, const int64_t *row, int col)
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
		write_int(w, row, col + i);
	}
	jsonline_members(&w->line, event_text(row, STORE_IO_args), is_first ? "" : ",");
	JSONLINE_ADD(&w->line, "}");
}

static json_fn *const writers[EVENT_HOWS] = {
	[EVENT_INT] = write_int,
	[EVENT_TIME] = write_int,
	[EVENT_DURATION] = write_int,
	[EVENT_REAL] = write_real,
	[EVENT_FLAG] = write_flag,
	[EVENT_STRING] = write_string,
	[EVENT_PATH] = write_path,
	[EVENT_TEXT] = write_plain,
	[EVENT_OBJECT] = write_object,
	[EVENT_WORDS] = write_words,
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
		writers[f->how](w, row, f->col);
	}
	JSONLINE_ADD(&w->line, "}\n");
	buf_add(w->out, w->line.data, w->line.len);
}

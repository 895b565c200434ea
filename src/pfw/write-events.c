/* Writes the events of a run as lines of a trace, one function per table; see pfw-write.h. */
#include "calls/calls-find.h"
#include "model/rows.h"
#include "pfw/event-parse.h"
#include "pfw/pfw-write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The head of an event; runs that were not imported get ids of their own. */
static char *start_event(struct pfw_writer *w, struct pfw_origin *o, struct pfw_head *head, size_t more)
{
	if (!w->is_imported)
		head->id = ++o->last_id;
	/* An event without an end has a duration of 0 in logs: readers of the format require one. */
	if (!w->is_imported && head->dur_ns == STORE_NULL)
		head->dur_ns = 0;
	o->events++;
	char *at = pfw_line_begin(w, o, head, more);
	return at ? pfw_args_begin(w, o, head->extra, at) : NULL;
}

static int64_t level_of(int64_t depth)
{
	return depth >= 0 && depth < INT64_MAX ? depth + 1 : STORE_NULL;
}

/* The names of the call's arguments as a line has them; kept until another call is written. */
static const struct line_args *args_of(struct pfw_writer *w, const struct model_call *call, const int64_t *row)
{
	char names[MODEL_ARGS_MAX * (LINE_ARG_NAME_MAX + 1)] = "", *at = names;

	if (w->call == row[STORE_IO_call])
		return &w->call_args;
	for (int i = 0; i < MODEL_ARGS_MAX; i++) {
		const char *name = model_arg_name(call, i, 0);
		size_t n = name ? strlen(name) : 0;

		if (n && n < LINE_ARG_NAME_MAX)
			at = put_bytes(at, name, n);
		*at++ = ',';
	}
	*at = '\0';
	line_args_init(&w->call_args, names);
	w->call = row[STORE_IO_call];
	return &w->call_args;
}

/* An imported call whose size is the product of two arguments has them instead. */
static bool is_product(const struct line_args *args, const int64_t *row)
{
	for (int i = 0; args->has_count && i < MODEL_ARGS_MAX; i++)
		if (args->bytes[i] == strlen(",\"count\":") && !strncmp(args->text[i], ",\"count\":", args->bytes[i]))
			return row[STORE_IO_arg0 + i] != STORE_NULL;
	return false;
}

/* The file of an imported call: by the hash it was read with, or by its path. */
static void name_imported_file(struct pfw_writer *w, struct line_call *c, int64_t file, uint64_t *hash)
{
	if (file > 0 && (uint64_t)file < w->file_hash_count && w->file_hashes[file] != STORE_NULL) {
		*hash = (uint64_t)w->file_hashes[file];
		c->file = hash;
	} else if (file != STORE_NULL) {
		struct store_text path = model_file_path(w->run, file);

		c->path = path.data;
		c->path_bytes = path.bytes;
	}
}

static void write_call(struct pfw_writer *w, const int64_t *row)
{
	struct pfw_origin *o = pfw_origin_of(w, row[STORE_IO_process]);
	const struct model_call *call = model_call(w->run, row[STORE_IO_call]);
	const struct store_text *name = model_name(w->run, row[STORE_IO_call]),
				*text = timeline_text(row, STORE_IO_text);
	const struct store_text *args = timeline_text(row, STORE_IO_args);
	const struct call_info *info = w->is_imported || !name ? NULL : calls_find(name->data, name->bytes);
	const char *category = pfw_trace_category(call && call->category ? call->category->data : NULL);
	struct store_text category_text = { .data = category, .bytes = strlen(category) };
	struct pfw_head head = { .id = row[STORE_IO_id],
		.pid = row[STORE_IO_pid],
		.tid = row[STORE_IO_tid],
		.name = name,
		.category = &category_text,
		.extra = timeline_text(row, STORE_IO_extra),
		.phase = 'X',
		.ts_ns = row[STORE_IO_ts_ns],
		.dur_ns = row[STORE_IO_dur_ns] };
	struct line_call c = { .parent = row[STORE_IO_parent],
		.level = level_of(row[STORE_IO_depth]),
		.ret = row[STORE_IO_ret],
		.size = row[STORE_IO_size],
		.offset = row[STORE_IO_offset],
		.fd = row[STORE_IO_fd],
		.errnum = row[STORE_IO_errnum],
		.names = args_of(w, call, row),
		.values = row + STORE_IO_arg0,
		.count = MODEL_ARGS_MAX,
		.text_key = "mode",
		.text_key_bytes = 4,
		.is_hex = o->is_hex };
	uint64_t hashes[2];
	int64_t file = row[STORE_IO_file];

	if (text) {
		c.text = text->data;
		c.text_bytes = text->bytes;
	}
	if (info && info->kind == CALL_KIND_EXEC) {
		c.is_exec = true;
		c.count = 0; /* whether sonde traced the program that was executed: not DFTracer's */
	}
	if (info)
		c.text_key = call_text_name(info, &c.text_key_bytes);
	if (w->is_imported) {
		/* As it was read: "count" is the size's key, or, where the size is a product, an argument. */
		if (is_product(c.names, row))
			c.size = STORE_NULL;
		name_imported_file(w, &c, file, &hashes[0]);
	} else {
		c.has_count = c.names->has_count;
		/* The records that name the files precede the line that uses them. */
		bool is_copy = call && call->kind == CALL_KIND_COPY; /* its target is no second path */
		int64_t tid = row[STORE_IO_tid], file2 = is_copy ? STORE_NULL : row[STORE_IO_file2];

		c.file = file != STORE_NULL && pfw_announce_file(w, o, tid, file, &hashes[0]) ? &hashes[0] : NULL;
		c.file2 = file2 != STORE_NULL && pfw_announce_file(w, o, tid, file2, &hashes[1]) ? &hashes[1] : NULL;
	}
	char *at = start_event(w, o, &head, LINE_JSON_ROOM(c.text_bytes + c.path_bytes) + PFW_FIELDS_ROOM(args));
	if (!at)
		return;
	at = put_call(at, &c);
	pfw_line_end(w, pfw_put_fields(w, o, at, args, false));
}

static void write_span(struct pfw_writer *w, const int64_t *row)
{
	struct pfw_origin *o = pfw_origin_of(w, row[STORE_SPAN_process]);
	const struct store_text *args = timeline_text(row, STORE_SPAN_args);
	struct pfw_head head = { .id = row[STORE_SPAN_id],
		.pid = row[STORE_SPAN_pid],
		.tid = row[STORE_SPAN_tid],
		.name = model_name(w->run, row[STORE_SPAN_name]),
		.category = model_name(w->run, row[STORE_SPAN_category]),
		.extra = timeline_text(row, STORE_SPAN_extra),
		.phase = 'X',
		.ts_ns = row[STORE_SPAN_ts_ns],
		.dur_ns = row[STORE_SPAN_dur_ns] };
	char *at = start_event(w, o, &head, PFW_FIELDS_ROOM(args));

	if (!at)
		return;
	if (row[STORE_SPAN_parent] != STORE_NULL)
		at = PUT_INT(at, "p_idx", row[STORE_SPAN_parent]);
	if (level_of(row[STORE_SPAN_depth]) != STORE_NULL)
		at = PUT_INT(at, "level", level_of(row[STORE_SPAN_depth]));
	pfw_line_end(w, pfw_put_fields(w, o, at, args, false));
}

static char *put_real(char *at, double value)
{
	return isfinite(value) ? at + snprintf(at, 64, ",\"value\":%.17g", value) : at;
}

/* Rows without a matching phase become events without a duration. */

static void write_mark(struct pfw_writer *w, const int64_t *row)
{
	static const struct store_text none = { .data = "mark", .bytes = 4 };
	struct pfw_origin *o = pfw_origin_of(w, row[STORE_MARK_process]);
	const struct store_text *args = timeline_text(row, STORE_MARK_args);
	const struct store_text *category = model_name(w->run, row[STORE_MARK_category]);
	struct pfw_head head = { .pid = row[STORE_MARK_pid],
		.tid = row[STORE_MARK_tid],
		.name = model_name(w->run, row[STORE_MARK_name]),
		.category = category ? category : &none,
		.phase = 'X',
		.ts_ns = row[STORE_MARK_ts_ns],
		.dur_ns = 0 };
	char *at = start_event(w, o, &head, PFW_FIELDS_ROOM(args));

	if (at)
		pfw_line_end(w, pfw_put_fields(w, o, at, args, false));
}

static void write_step(struct pfw_writer *w, const int64_t *row)
{
	static const struct store_text category = { .data = "step", .bytes = 4 };
	struct pfw_origin *o = pfw_origin_of(w, row[STORE_STEP_process]);
	struct pfw_head head = { .pid = row[STORE_STEP_pid],
		.tid = row[STORE_STEP_tid],
		.name = model_name(w->run, row[STORE_STEP_name]),
		.category = &category,
		.phase = 'X',
		.ts_ns = row[STORE_STEP_ts_ns],
		.dur_ns = 0 };
	char *at = start_event(w, o, &head, 0);

	if (!at)
		return;
	if (row[STORE_STEP_index] != STORE_NULL)
		at = PUT_INT(at, "step", row[STORE_STEP_index]);
	pfw_line_end(w, put_real(at, timeline_real(row, STORE_STEP_value)));
}

static void write_counter(struct pfw_writer *w, const int64_t *row)
{
	static const struct store_text category = { .data = "sys", .bytes = 3 };
	struct pfw_origin *o = pfw_origin_of(w, row[STORE_COUNTER_process]);
	struct pfw_head head = { .id = STORE_NULL,
		.pid = row[STORE_COUNTER_pid],
		.tid = row[STORE_COUNTER_tid],
		.name = model_name(w->run, row[STORE_COUNTER_name]),
		.category = &category,
		.phase = 'C',
		.ts_ns = row[STORE_COUNTER_ts_ns],
		.dur_ns = STORE_NULL };

	if (w->is_imported)
		return; /* its original record is in the table `line` */
	char *at = pfw_line_begin(w, o, &head, 0);
	if (at)
		pfw_line_end(w, put_real(pfw_args_begin(w, o, NULL, at), timeline_real(row, STORE_COUNTER_value)));
}

static void (*const writers[STORE_TABLE_COUNT])(struct pfw_writer *w, const int64_t *row) = {
	[STORE_TABLE_IO] = write_call,
	[STORE_TABLE_SPAN] = write_span,
	[STORE_TABLE_MARK] = write_mark,
	[STORE_TABLE_STEP] = write_step,
	[STORE_TABLE_COUNTER] = write_counter,
};

void pfw_write_event(struct pfw_writer *w, enum store_table_id table, const int64_t *row)
{
	writers[table](w, row);
}

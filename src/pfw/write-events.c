/* Writes the events of a run as lines of a trace, one function per table; see pfw-write.h. */
#include "exchange/timeline.h"
#include "pfw/pfw-category.h"
#include "pfw/pfw-write.h"

#include <math.h>
#include <string.h>

static void put_duration(struct pfw_writer *w, const struct pfw_origin *o, int64_t ns)
{
	if (ns != STORE_NULL)
		pfw_put_time(w, o, ",\"dur\":", ns);
}

/* The record's id, or the next one of its process. */
static int64_t id_of(const struct pfw_writer *w, struct pfw_origin *o, int64_t id)
{
	return w->is_imported ? id : ++o->last_id;
}

/* Arguments: each opens the object or continues it. */

struct args {
	struct pfw_writer *w;
	bool has_any;
};

static const char *before(struct args *a)
{
	const char *text = a->has_any ? "," : ",\"args\":{";

	a->has_any = true;
	return text;
}

static void arg_int(struct args *a, const char *name, int64_t v)
{
	if (v == STORE_NULL || !name)
		return;
	buf_adds(&a->w->line, before(a));
	buf_addf(&a->w->line, "\"%s\":", name);
	pfw_put_int(&a->w->line, "", v);
}

static void arg_text(struct args *a, const char *name, const struct store_text *text)
{
	if (!text || !text->data)
		return;
	buf_adds(&a->w->line, before(a));
	buf_addf(&a->w->line, "\"%s\":", name);
	pfw_put_text(&a->w->line, "", text);
}

static void arg_hash(struct args *a, const struct pfw_origin *o, const char *name, uint64_t hash)
{
	buf_adds(&a->w->line, before(a));
	buf_addf(&a->w->line, "\"%s\":", name);
	pfw_put_hash(&a->w->line, "", hash, o->is_hex);
}

static bool says_no_host(const struct store_text *extra)
{
	static const char mark[] = "{\"hhash\":null";

	return extra && extra->bytes >= sizeof(mark) - 1 && !memcmp(extra->data, mark, sizeof(mark) - 1);
}

static void put_host(struct args *a, const struct pfw_origin *o, const struct store_text *extra)
{
	if (says_no_host(extra))
		return;
	if (o->has_hash)
		arg_hash(a, o, "hhash", o->host_hash);
	else if (a->w->is_imported)
		arg_text(a, "hostname", &o->host);
}

/* Writes the remaining fields and ends the line. */
static void end_event(struct args *a, const struct pfw_origin *o, const struct store_text *object)
{
	if (object && pfw_put_fields(a->w, o, object, a->has_any ? "," : ",\"args\":{", false))
		a->has_any = true;
	buf_adds(&a->w->line, a->has_any ? "}}" : "}");
	pfw_end_line(a->w);
}

static void put_nesting(struct args *a, int64_t parent, int64_t depth)
{
	arg_int(a, "p_idx", parent);
	if (depth != STORE_NULL && depth >= 0 && depth < INT64_MAX)
		arg_int(a, "level", depth + 1);
}

/* Calls. */

static bool has_arg(const struct model_call *call, const int64_t *row, const char *name)
{
	for (int i = 0; i < MODEL_ARGS_MAX; i++) {
		const char *known = model_arg_name(call, i, row[STORE_IO_arg0 + i]);

		if (known && !strcmp(known, name) && row[STORE_IO_arg0 + i] != STORE_NULL)
			return true;
	}
	return false;
}

static void put_file(struct args *a, struct pfw_origin *o, const int64_t *row)
{
	struct pfw_writer *w = a->w;
	int64_t file = row[STORE_IO_file];
	struct store_text path;
	uint64_t hash;

	if (file == STORE_NULL)
		return;
	if (!w->is_imported) {
		if (pfw_announce_file(w, o, row[STORE_IO_tid], file, &hash))
			arg_hash(a, o, "fhash", hash);
		return;
	}
	if (file > 0 && (uint64_t)file < w->file_hash_count && w->file_hashes[file] != STORE_NULL) {
		arg_hash(a, o, "fhash", (uint64_t)w->file_hashes[file]);
		return;
	}
	path = model_file_path(w->run, file);
	arg_text(a, "fname", &path);
}

static void write_call(struct pfw_writer *w, const int64_t *row)
{
	struct pfw_origin *o = pfw_origin_of(w, row[STORE_IO_process]);
	const struct model_call *call = model_call(w->run, row[STORE_IO_call]);
	const char *category = pfw_trace_category(call && call->category ? call->category->data : NULL);
	struct store_text category_text = { .data = category, .bytes = strlen(category) };
	struct pfw_head head = { row[STORE_IO_id], row[STORE_IO_pid], row[STORE_IO_tid],
		model_name(w->run, row[STORE_IO_call]), &category_text, timeline_text(row, STORE_IO_extra), 'X' };
	struct args a = { .w = w };
	uint64_t hash;

	/* The record that names the file precedes the line that uses it. */
	if (!w->is_imported && row[STORE_IO_file] != STORE_NULL)
		pfw_announce_file(w, o, row[STORE_IO_tid], row[STORE_IO_file], &hash);
	head.id = id_of(w, o, head.id);
	o->events++;
	pfw_put_head(w, o, &head);
	pfw_put_ts(w, o, row[STORE_IO_ts_ns]);
	put_duration(w, o, row[STORE_IO_dur_ns]);
	pfw_put_phase(w, o, 'X');
	put_host(&a, o, head.extra);
	put_nesting(&a, row[STORE_IO_parent], row[STORE_IO_depth]);
	arg_int(&a, "ret", row[STORE_IO_ret]);
	if (!has_arg(call, row, "count"))
		arg_int(&a, "count", row[STORE_IO_size]);
	arg_int(&a, "offset", row[STORE_IO_offset]);
	arg_int(&a, "fd", row[STORE_IO_fd]);
	put_file(&a, o, row);
	for (int i = 0; i < MODEL_ARGS_MAX; i++)
		arg_int(&a, model_arg_name(call, i, row[STORE_IO_arg0 + i]), row[STORE_IO_arg0 + i]);
	arg_text(&a, "mode", timeline_text(row, STORE_IO_text));
	end_event(&a, o, timeline_text(row, STORE_IO_args));
}

static void write_span(struct pfw_writer *w, const int64_t *row)
{
	struct pfw_origin *o = pfw_origin_of(w, row[STORE_SPAN_process]);
	struct pfw_head head = { row[STORE_SPAN_id], row[STORE_SPAN_pid], row[STORE_SPAN_tid],
		model_name(w->run, row[STORE_SPAN_name]), model_name(w->run, row[STORE_SPAN_category]),
		timeline_text(row, STORE_SPAN_extra), 'X' };
	struct args a = { .w = w };

	head.id = id_of(w, o, head.id);
	o->events++;
	pfw_put_head(w, o, &head);
	pfw_put_ts(w, o, row[STORE_SPAN_ts_ns]);
	put_duration(w, o, row[STORE_SPAN_dur_ns]);
	pfw_put_phase(w, o, 'X');
	put_host(&a, o, head.extra);
	put_nesting(&a, row[STORE_SPAN_parent], row[STORE_SPAN_depth]);
	end_event(&a, o, timeline_text(row, STORE_SPAN_args));
}

/* Rows without a matching phase become events without a duration. */
static void write_instant(struct pfw_writer *w, const int64_t *row, int64_t process, int64_t pid, int64_t tid,
		int64_t name, const char *category)
{
	struct pfw_origin *o = pfw_origin_of(w, process);
	struct store_text category_text = { .data = category, .bytes = strlen(category) };
	struct pfw_head head = { ++o->last_id, pid, tid, model_name(w->run, name), &category_text, NULL, 'X' };

	o->events++;
	pfw_put_head(w, o, &head);
	pfw_put_ts(w, o, row[0]);
	pfw_put_int(&w->line, ",\"dur\":", 0);
	pfw_put_phase(w, o, 'X');
}

static void write_mark(struct pfw_writer *w, const int64_t *row)
{
	struct pfw_origin *o = pfw_origin_of(w, row[STORE_MARK_process]);
	const struct store_text *category = model_name(w->run, row[STORE_MARK_category]);
	struct args a = { .w = w };

	write_instant(w, row, row[STORE_MARK_process], row[STORE_MARK_pid], row[STORE_MARK_tid], row[STORE_MARK_name],
			category ? category->data : "mark");
	put_host(&a, o, NULL);
	end_event(&a, o, timeline_text(row, STORE_MARK_args));
}

static void write_step(struct pfw_writer *w, const int64_t *row)
{
	struct pfw_origin *o = pfw_origin_of(w, row[STORE_STEP_process]);
	struct args a = { .w = w };
	double value = timeline_real(row, STORE_STEP_value);

	write_instant(w, row, row[STORE_STEP_process], row[STORE_STEP_pid], row[STORE_STEP_tid], row[STORE_STEP_name],
			"step");
	put_host(&a, o, NULL);
	arg_int(&a, "step", row[STORE_STEP_index]);
	if (isfinite(value))
		buf_addf(&w->line, "%s\"value\":%.17g", before(&a), value);
	end_event(&a, o, NULL);
}

static void write_counter(struct pfw_writer *w, const int64_t *row)
{
	struct pfw_origin *o = pfw_origin_of(w, row[STORE_COUNTER_process]);
	struct store_text category = { .data = "sys", .bytes = 3 };
	struct pfw_head head = { STORE_NULL, row[STORE_COUNTER_pid], row[STORE_COUNTER_tid],
		model_name(w->run, row[STORE_COUNTER_name]), &category, NULL, 'C' };
	struct args a = { .w = w };
	double value = timeline_real(row, STORE_COUNTER_value);

	if (w->is_imported)
		return; /* its original record is in the table `line` */
	pfw_put_head(w, o, &head);
	pfw_put_ts(w, o, row[STORE_COUNTER_ts_ns]);
	pfw_put_phase(w, o, 'C');
	put_host(&a, o, NULL);
	if (isfinite(value))
		buf_addf(&w->line, "%s\"value\":%.17g", before(&a), value);
	end_event(&a, o, NULL);
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

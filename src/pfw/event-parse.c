/* Converts records to rows. */
#include "pfw/event-parse.h"

#include "pfw/pfw-category.h"

#include <errno.h>
#include <string.h>

void pfw_event_init(struct pfw_event *e, struct pfw_cache *cache)
{
	*e = (struct pfw_event){ .class = PFW_OTHER, .cache = cache };
	buf_init(&e->text_bytes, STORE_TEXT_BYTES_MAX);
	buf_init(&e->args_bytes, STORE_TEXT_BYTES_MAX);
	buf_init(&e->extra_bytes, STORE_TEXT_BYTES_MAX);
	buf_init(&e->scratch, 0);
}

void pfw_event_release(struct pfw_event *e)
{
	buf_release(&e->text_bytes);
	buf_release(&e->args_bytes);
	buf_release(&e->extra_bytes);
	buf_release(&e->scratch);
}

/* Record kinds. */

static bool is_string(const struct pfw_field *f, const char *text)
{
	return f && f->kind == JSONSCAN_STRING && f->bytes == strlen(text) && !memcmp(f->value, text, f->bytes);
}

static bool is_phase(const struct pfw_field *f, const char *letter, char digit)
{
	return is_string(f, letter) || (f && f->kind == JSONSCAN_INTEGER && f->bytes == 1 && *f->value == digit);
}

static bool is_call_category(const struct pfw_field *f)
{
	return is_string(f, "POSIX") || is_string(f, "STDIO");
}

static void classify(struct pfw_event *e, const struct pfw_context *ctx, const struct pfw_line *line)
{
	const struct pfw_field *ts = pfw_line_get(line, PFW_KEY_ts);

	e->name = pfw_line_get(line, PFW_KEY_name);
	e->category = pfw_line_get(line, PFW_KEY_cat);
	e->phase = pfw_line_get(line, PFW_KEY_ph);
	e->name = e->name && e->name->kind == JSONSCAN_STRING ? e->name : NULL;
	e->category = e->category && e->category->kind == JSONSCAN_STRING ? e->category : NULL;
	e->table = STORE_TABLE_LINE;
	e->class = PFW_OTHER;
	if (is_phase(e->phase, "M", '4')) {
		e->class = PFW_METADATA;
	} else if (is_phase(e->phase, "C", '2') || is_phase(e->phase, "A", '3')) {
		e->class = PFW_COUNTER;
	} else if (is_phase(e->phase, "X", '1') && e->name && ts && pfw_is_time(ctx, ts)) {
		e->class = PFW_EVENT;
		e->table = is_call_category(e->category) ? STORE_TABLE_IO : STORE_TABLE_SPAN;
	}
}

/* Clears the row: all columns null. */
static void start_row(struct pfw_event *e)
{
	if (e->table == STORE_TABLE_IO)
		e->row.io = store_io_nulls;
	else if (e->table == STORE_TABLE_SPAN)
		e->row.span = store_span_nulls;
	else
		e->row.line = store_line_nulls;
	if (e->table == STORE_TABLE_IO)
		e->row.io.flags = 0;
	if (e->table == STORE_TABLE_SPAN)
		e->row.span.is_open = 0;
	e->pid = e->tid = STORE_NULL;
	e->forms = 0;
	e->has_host = e->is_hostless = e->has_product = e->has_file = e->has_file2 = false;
	e->hostname = e->filename = NULL;
	e->text_field = NULL;
	e->call = NULL;
	e->seen = e->odd_durations = 0;
}

static int64_t intern(struct pfw_event *e, const struct pfw_field *f)
{
	if (!f)
		return STORE_NULL;
	if (!(f->flags & JSONSCAN_HAS_ESCAPE) && f->kind == JSONSCAN_STRING)
		return pfw_cache_string(e->cache, f->value, f->bytes);
	buf_reset(&e->scratch);
	pfw_field_text(f, &e->scratch);
	return buf_error(&e->scratch) ? STORE_NULL : pfw_cache_string(e->cache, e->scratch.data, e->scratch.len);
}

/* Sets the call; returns false if it is registered with another category than this record has. */
static bool name_call(struct pfw_event *e)
{
	const char *category = pfw_call_category(e->name->value, e->name->bytes, is_string(e->category, "STDIO"));
	int64_t id = pfw_cache_string(e->cache, category, strlen(category));

	e->row.io.call = intern(e, e->name);
	e->call = pfw_dims_call(e->cache->dims, e->row.io.call, id);
	return e->call && e->call->category == id;
}

/* Values derived from the whole record. */

static void find_process(struct pfw_event *e, const struct pfw_context *ctx)
{
	struct pfw_process_key key = { .host_kind = ctx->host_kind, .host = ctx->host, .pid = e->pid };

	if (e->has_host) {
		key.host_kind = PFW_HOST_HASH;
		key.host = e->host;
	} else if (e->hostname) {
		int64_t name = intern(e, e->hostname);

		key.host_kind = name == STORE_NULL ? PFW_HOST_NONE : PFW_HOST_NAME;
		key.host = name == STORE_NULL ? 0 : (uint64_t)name;
	}
	e->is_hostless = !e->has_host && !e->hostname && key.host_kind != PFW_HOST_NONE;
	e->process = pfw_cache_process(e->cache, &key);
	if (e->phase && e->phase->kind == JSONSCAN_INTEGER)
		e->forms |= PFW_FORM_INTEGER_PHASE;
	if (e->process && (e->forms & ~e->process->forms))
		atomic_fetch_or(&e->process->forms, e->forms);
}

static void add_field(struct buf *out, const struct pfw_field *f)
{
	buf_addc(out, out->len ? ',' : '{');
	if (f->flags & JSONSCAN_HAS_ODD)
		pfw_clean(out, f->from, (size_t)(f->to - f->from));
	else
		buf_add(out, f->from, (size_t)(f->to - f->from));
}

/* The fields with this role as a JSON object, or NULL if there are none. */
static const struct store_text *compose(struct buf *out, const struct pfw_line *line, enum pfw_role role,
		bool is_hostless, struct store_text *text)
{
	buf_reset(out);
	if (is_hostless)
		buf_adds(out, "{\"hhash\":null");
	for (size_t i = 0; i < line->count; i++)
		if (line->fields[i].role == role || (role == PFW_ROLE_ARGS && line->fields[i].role == PFW_ROLE_FILE2))
			add_field(out, &line->fields[i]);
	if (!out->len)
		return NULL;
	buf_addc(out, '}');
	*text = (struct store_text){ .data = out->data, .bytes = out->len };
	return text;
}

static void finish_io(struct pfw_event *e)
{
	struct store_io *row = &e->row.io;

	row->process = e->process ? e->process->number : STORE_NULL;
	row->pid = e->pid;
	row->tid = e->tid;
	if (e->has_file)
		row->file = pfw_cache_file(e->cache, e->process, e->file_hash);
	else if (e->filename)
		row->file = pfw_dims_named_file(e->cache->dims, intern(e, e->filename));
	if (e->has_file2)
		row->file2 = pfw_cache_file(e->cache, e->process, e->file2_hash);
	if (e->text_field) {
		buf_reset(&e->text_bytes);
		pfw_field_text(e->text_field, &e->text_bytes);
		e->text = (struct store_text){ .data = e->text_bytes.data, .bytes = e->text_bytes.len };
		row->text = &e->text;
	}
	e->ts_ns = row->ts_ns;
	e->dur_ns = row->dur_ns;
}

static void finish_span(struct pfw_event *e)
{
	struct store_span *row = &e->row.span;

	row->process = e->process ? e->process->number : STORE_NULL;
	row->pid = e->pid;
	row->tid = e->tid;
	row->name = intern(e, e->name);
	row->category = intern(e, e->category);
	e->ts_ns = row->ts_ns;
	e->dur_ns = row->dur_ns;
}

static int64_t phase_of(struct pfw_event *e)
{
	if (e->class == PFW_METADATA)
		return pfw_cache_string(e->cache, "M", 1);
	if (e->class == PFW_COUNTER)
		return pfw_cache_string(e->cache, is_phase(e->phase, "A", '3') ? "A" : "C", 1);
	return e->phase && e->phase->kind == JSONSCAN_STRING ? intern(e, e->phase) : STORE_NULL;
}

static void finish_line(struct pfw_event *e)
{
	struct store_line *row = &e->row.line;

	row->process = e->process ? e->process->number : STORE_NULL;
	row->pid = e->pid;
	row->tid = e->tid;
	row->phase = phase_of(e);
	row->name = intern(e, e->name);
	row->category = intern(e, e->category);
	e->ts_ns = row->ts_ns;
	e->dur_ns = STORE_NULL;
}

static void keep(struct pfw_line *line, const struct pfw_field *field)
{
	if (field)
		line->fields[field - line->fields].role = PFW_ROLE_EXTRA;
}

/* Names that did not fit in the name tables are kept as text. */
static void keep_names(struct pfw_event *e, struct pfw_line *line, int64_t name, int64_t category,
		bool is_category_kept)
{
	if (name == STORE_NULL)
		keep(line, e->name);
	if (category == STORE_NULL || is_category_kept)
		keep(line, e->category);
}

int pfw_event_make(struct pfw_event *e, const struct pfw_context *ctx, struct pfw_line *line)
{
	bool is_known;

	classify(e, ctx, line);
	start_row(e);
	is_known = e->table != STORE_TABLE_IO || name_call(e);
	pfw_fields_put(e, ctx, line);
	find_process(e, ctx);
	if (e->table == STORE_TABLE_IO) {
		finish_io(e);
		keep_names(e, line, e->row.io.call, 0, !is_known);
		e->row.io.args = compose(&e->args_bytes, line, PFW_ROLE_ARGS, false, &e->args);
		e->row.io.extra = compose(&e->extra_bytes, line, PFW_ROLE_EXTRA, e->is_hostless, &e->extra);
	} else if (e->table == STORE_TABLE_SPAN) {
		finish_span(e);
		keep_names(e, line, e->row.span.name, e->row.span.category, false);
		e->row.span.args = compose(&e->args_bytes, line, PFW_ROLE_ARGS, false, &e->args);
		e->row.span.extra = compose(&e->extra_bytes, line, PFW_ROLE_EXTRA, e->is_hostless, &e->extra);
	} else {
		finish_line(e);
		keep_names(e, line, e->row.line.name, e->row.line.category, false);
		e->row.line.args = compose(&e->args_bytes, line, PFW_ROLE_ARGS, false, &e->args);
		e->row.line.extra = compose(&e->extra_bytes, line, PFW_ROLE_EXTRA, false, &e->extra);
	}
	return buf_error(&e->args_bytes) || buf_error(&e->extra_bytes) || buf_error(&e->text_bytes) ? -ENOMEM : 0;
}

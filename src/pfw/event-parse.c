/* Converts records to rows. */
#include "pfw/event-parse.h"

#include "calls/calls-find.h"

#include <errno.h>
#include <string.h>

/* Stores the fields of a record in columns, `args` or `extra`; see event-parse.h. */

#define NONE 255
#define TIME_NS_MAX (((int64_t)1 << 62) - 1) /* so that ts + dur cannot overflow */
#define LEVEL_MAX ((int64_t)1 << 31)

enum scale { NOTHING, PLAIN, TIME, DURATION, LEVEL };

/* Keys with a column. "count" has one in io unless the record also has "size". */
static const struct column {
	uint8_t is_arg;
	uint8_t io, span, line;
	uint8_t scale;
} columns[PFW_KEY_COUNT] = {
	[PFW_KEY_id] = { false, STORE_IO_id, STORE_SPAN_id, STORE_LINE_id, PLAIN },
	[PFW_KEY_ts] = { false, STORE_IO_ts_ns, STORE_SPAN_ts_ns, STORE_LINE_ts_ns, TIME },
	[PFW_KEY_dur] = { false, STORE_IO_dur_ns, STORE_SPAN_dur_ns, NONE, DURATION },
	[PFW_KEY_level] = { true, STORE_IO_depth, STORE_SPAN_depth, NONE, LEVEL },
	[PFW_KEY_p_idx] = { true, STORE_IO_parent, STORE_SPAN_parent, NONE, PLAIN },
	[PFW_KEY_ret] = { true, STORE_IO_ret, NONE, NONE, PLAIN },
	[PFW_KEY_fd] = { true, STORE_IO_fd, NONE, NONE, PLAIN },
	[PFW_KEY_offset] = { true, STORE_IO_offset, NONE, NONE, PLAIN },
	[PFW_KEY_count] = { true, STORE_IO_size, NONE, NONE, PLAIN },
};

static unsigned column_in(const struct column *c, enum store_table_id table)
{
	if (c->scale == NOTHING)
		return NONE;
	return table == STORE_TABLE_IO ? c->io : table == STORE_TABLE_SPAN ? c->span : c->line;
}

static struct pfw_scale scale_of(const struct pfw_context *ctx, enum scale scale)
{
	int64_t time_max = TIME_NS_MAX / ctx->unit_ns;

	switch (scale) {
	case TIME:
		return (struct pfw_scale){ ctx->unit_ns, 0, -time_max, time_max };
	case DURATION:
		return (struct pfw_scale){ ctx->unit_ns, 0, 0, time_max };
	case LEVEL:
		return (struct pfw_scale){ 1, -1, 1, LEVEL_MAX };
	default:
		return (struct pfw_scale){ 1, 0, -INT64_MAX, INT64_MAX };
	}
}

struct pfw_scale pfw_scale_of(const struct pfw_context *ctx, enum store_table_id table, unsigned column)
{
	for (size_t i = 0; i < PFW_KEY_COUNT; i++)
		if (column_in(&columns[i], table) == column)
			return scale_of(ctx, columns[i].scale);
	return scale_of(ctx, PLAIN);
}

int64_t pfw_product(int64_t a, int64_t b)
{
	int64_t v;

	return a == STORE_NULL || b == STORE_NULL || __builtin_mul_overflow(a, b, &v) ? STORE_NULL : v;
}

/* Parses a scaled number, quoted or not; times may have decimals. */
static bool parse_scaled(const struct pfw_field *f, const struct pfw_scale *s, int64_t *v)
{
	int64_t number;

	if (pfw_field_int(f, &number)) {
		if (number < s->min || number > s->max)
			return false;
		*v = number * s->mul + s->add;
		return true;
	}
	if (s->mul == 1 || (f->kind != JSONSCAN_REAL && f->kind != JSONSCAN_STRING) ||
			!pfw_parse_scaled(f->value, f->bytes, s->mul, v))
		return false;
	return *v >= s->min && *v <= TIME_NS_MAX;
}

static bool pfw_is_time(const struct pfw_context *ctx, const struct pfw_field *f)
{
	struct pfw_scale scale = scale_of(ctx, TIME);
	int64_t time;

	return parse_scaled(f, &scale, &time);
}

static uint8_t put_column(struct pfw_event *e, const struct pfw_context *ctx, struct pfw_field *f, unsigned column,
		enum scale scale)
{
	struct pfw_scale s = scale_of(ctx, scale);
	int64_t v;

	if (column == NONE || e->seen >> column & 1)
		return PFW_ROLE_NONE;
	if (!parse_scaled(f, &s, &v)) {
		e->odd_durations += scale == DURATION;
		return PFW_ROLE_NONE;
	}
	e->seen |= (uint64_t)1 << column;
	e->row.words[column] = v;
	f->column = (uint8_t)column;
	return PFW_ROLE_COLUMN;
}

/* Stores the value in the column of its key, if the key has one. */
static uint8_t put_known(struct pfw_event *e, const struct pfw_context *ctx, struct pfw_field *f)
{
	const struct column *c = &columns[f->id];

	if (c->is_arg != f->is_arg)
		return PFW_ROLE_NONE;
	return put_column(e, ctx, f, column_in(c, e->table), c->scale);
}

static uint8_t put_id(int64_t *place, const struct pfw_field *f, uint8_t role)
{
	return *place == STORE_NULL && pfw_field_int(f, place) ? role : PFW_ROLE_NONE;
}

static uint8_t put_top(struct pfw_event *e, const struct pfw_context *ctx, struct pfw_field *f)
{
	if (f == e->name || f == e->category)
		return PFW_ROLE_FIXED;
	if (f == e->phase)
		return e->class == PFW_OTHER && f->kind != JSONSCAN_STRING ? PFW_ROLE_NONE : PFW_ROLE_FIXED;
	if (f->id == PFW_KEY_pid)
		return put_id(&e->pid, f, PFW_ROLE_PID);
	if (f->id == PFW_KEY_tid)
		return put_id(&e->tid, f, PFW_ROLE_TID);
	if (f->id == PFW_KEY_id && f->kind == JSONSCAN_STRING)
		e->forms |= PFW_FORM_QUOTED;
	return put_known(e, ctx, f);
}

static uint8_t put_host(struct pfw_event *e, struct pfw_field *f)
{
	bool is_hex;

	if (f->id == PFW_KEY_hhash && !e->has_host && pfw_field_hash(f, &e->host, &is_hex)) {
		e->has_host = true;
		e->forms |= is_hex                              ? PFW_FORM_HEX_HASH
				: e->host <= PFW_SHORT_HASH_MAX ? PFW_FORM_SHORT_HASH
								: PFW_FORM_INTEGER_HASH;
		return PFW_ROLE_HOST;
	}
	if (f->id == PFW_KEY_hostname && !e->hostname && f->kind == JSONSCAN_STRING) {
		e->hostname = f;
		return PFW_ROLE_HOSTNAME;
	}
	return PFW_ROLE_NONE;
}

static uint8_t put_file(struct pfw_event *e, struct pfw_field *f)
{
	bool is_hex;

	if (f->id == PFW_KEY_fhash && !e->has_file && pfw_field_hash(f, &e->file_hash, &is_hex)) {
		e->has_file = true;
		return PFW_ROLE_FILE;
	}
	if (f->id == PFW_KEY_fname && !e->filename && f->kind == JSONSCAN_STRING) {
		e->filename = f;
		return PFW_ROLE_FILENAME;
	}
	if (f->key_bytes > 5 && !memcmp(f->key + f->key_bytes - 5, "_hash", 5))
		return e->has_file2 || !(e->has_file2 = pfw_field_hash(f, &e->file2_hash, &is_hex)) ? PFW_ROLE_ARGS
												    : PFW_ROLE_FILE2;
	if (f->id == PFW_KEY_mode && !e->text_field && f->kind == JSONSCAN_STRING) {
		e->text_field = f;
		return PFW_ROLE_TEXT;
	}
	return PFW_ROLE_NONE;
}

/* Returns whether the key has a fixed destination and is stored nowhere else. */
static bool has_place(const struct pfw_event *e, const struct pfw_field *f)
{
	if (f->id == PFW_KEY_count)
		return !e->has_product;
	return columns[f->id].scale != NOTHING || f->id == PFW_KEY_hhash || f->id == PFW_KEY_hostname ||
			f->id == PFW_KEY_fhash || f->id == PFW_KEY_fname;
}

/* An argument specific to this call: one of arg0 .. arg3. */
static uint8_t put_call_arg(struct pfw_event *e, const struct pfw_context *ctx, struct pfw_field *f)
{
	int64_t v;

	if (has_place(e, f) || f->kind != JSONSCAN_INTEGER || !pfw_parse_int(f->value, f->bytes, &v))
		return PFW_ROLE_NONE;
	int place = pfw_dims_call_arg(e->cache->dims, e->call, f->key, f->key_bytes);
	return place < 0 ? PFW_ROLE_NONE : put_column(e, ctx, f, STORE_IO_arg0 + (unsigned)place, PLAIN);
}

static uint8_t put_arg(struct pfw_event *e, const struct pfw_context *ctx, struct pfw_field *f)
{
	uint8_t role = put_host(e, f);

	if (e->table == STORE_TABLE_LINE)
		return PFW_ROLE_NONE;
	if (!role && !(e->has_product && f->id == PFW_KEY_count))
		role = put_known(e, ctx, f);
	if (!role && e->table == STORE_TABLE_IO)
		role = put_file(e, f);
	if (!role && e->table == STORE_TABLE_IO)
		role = put_call_arg(e, ctx, f);
	return role;
}

static void pfw_fields_put(struct pfw_event *e, const struct pfw_context *ctx, struct pfw_line *line)
{
	unsigned products = 0;

	/* Item size times item count is the number of bytes requested. */
	const struct pfw_field *size = pfw_line_arg(line, PFW_KEY_size), *count = pfw_line_arg(line, PFW_KEY_count);
	e->has_product = e->table == STORE_TABLE_IO && size && count && size->kind == JSONSCAN_INTEGER &&
			count->kind == JSONSCAN_INTEGER;
	for (size_t i = 0; i < line->count; i++) {
		struct pfw_field *f = &line->fields[i];

		f->role = f->is_arg ? put_arg(e, ctx, f) : put_top(e, ctx, f);
		if (!f->role)
			f->role = f->is_arg ? PFW_ROLE_ARGS : PFW_ROLE_EXTRA;
		if (e->has_product && f->is_arg && (f->id == PFW_KEY_size || f->id == PFW_KEY_count)) {
			if (f->id == PFW_KEY_size)
				e->product[0] = f->column;
			if (f->id == PFW_KEY_count)
				e->product[1] = f->column;
			products += f->role == PFW_ROLE_COLUMN;
		}
	}
	/* A name next to its hash adds nothing to the row, but is a field of the record. */
	if (e->has_host && e->hostname)
		e->hostname->role = PFW_ROLE_ARGS;
	if (e->has_file && e->filename)
		e->filename->role = PFW_ROLE_ARGS;
	e->has_product = e->has_product && products == 2;
	if (e->has_product)
		e->row.io.size = pfw_product(e->row.words[e->product[0]], e->row.words[e->product[1]]);
}

const char *pfw_call_category(const char *name, size_t n, bool is_stdio)
{
	const struct call_info *info = is_stdio ? NULL : calls_find(name, n);

	return is_stdio ? "stdio" : info ? call_category_word(info->category) : "meta";
}

const char *pfw_trace_category(const char *call_category)
{
	return call_category && !strcmp(call_category, "stdio") ? "STDIO" : "POSIX";
}

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

/* The fields with this role as a JSON object, or NULL if there are none. */
static const struct store_text *compose(struct buf *out, const struct pfw_line *line, enum pfw_role role,
		bool is_hostless, struct store_text *text)
{
	buf_reset(out);
	if (is_hostless)
		buf_adds(out, "{\"hhash\":null");
	for (size_t i = 0; i < line->count; i++)
		if (line->fields[i].role == role || (role == PFW_ROLE_ARGS && line->fields[i].role == PFW_ROLE_FILE2)) {
			const struct pfw_field *f = &line->fields[i];
			buf_addc(out, out->len ? ',' : '{');
			if (f->flags & JSONSCAN_HAS_ODD)
				pfw_clean(out, f->from, (size_t)(f->to - f->from));
			else
				buf_add(out, f->from, (size_t)(f->to - f->from));
		}
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

static int64_t phase_of(struct pfw_event *e)
{
	if (e->class == PFW_METADATA)
		return pfw_cache_string(e->cache, "M", 1);
	if (e->class == PFW_COUNTER)
		return pfw_cache_string(e->cache, is_phase(e->phase, "A", '3') ? "A" : "C", 1);
	return e->phase && e->phase->kind == JSONSCAN_STRING ? intern(e, e->phase) : STORE_NULL;
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
	classify(e, ctx, line);
	start_row(e);
	bool is_known = e->table != STORE_TABLE_IO || name_call(e);
	pfw_fields_put(e, ctx, line);
	find_process(e, ctx);
	if (e->table == STORE_TABLE_IO) {
		finish_io(e);
		keep_names(e, line, e->row.io.call, 0, !is_known);
		e->row.io.args = compose(&e->args_bytes, line, PFW_ROLE_ARGS, false, &e->args);
		e->row.io.extra = compose(&e->extra_bytes, line, PFW_ROLE_EXTRA, e->is_hostless, &e->extra);
	} else if (e->table == STORE_TABLE_SPAN) {
		struct store_span *row = &e->row.span;
		row->process = e->process ? e->process->number : STORE_NULL;
		row->pid = e->pid;
		row->tid = e->tid;
		row->name = intern(e, e->name);
		row->category = intern(e, e->category);
		e->ts_ns = row->ts_ns;
		e->dur_ns = row->dur_ns;
		keep_names(e, line, e->row.span.name, e->row.span.category, false);
		e->row.span.args = compose(&e->args_bytes, line, PFW_ROLE_ARGS, false, &e->args);
		e->row.span.extra = compose(&e->extra_bytes, line, PFW_ROLE_EXTRA, e->is_hostless, &e->extra);
	} else {
		struct store_line *row = &e->row.line;
		row->process = e->process ? e->process->number : STORE_NULL;
		row->pid = e->pid;
		row->tid = e->tid;
		row->phase = phase_of(e);
		row->name = intern(e, e->name);
		row->category = intern(e, e->category);
		e->ts_ns = row->ts_ns;
		e->dur_ns = STORE_NULL;
		keep_names(e, line, e->row.line.name, e->row.line.category, false);
		e->row.line.args = compose(&e->args_bytes, line, PFW_ROLE_ARGS, false, &e->args);
		e->row.line.extra = compose(&e->extra_bytes, line, PFW_ROLE_EXTRA, false, &e->extra);
	}
	return buf_error(&e->args_bytes) || buf_error(&e->extra_bytes) || buf_error(&e->text_bytes) ? -ENOMEM : 0;
}

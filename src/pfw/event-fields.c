/* Stores the fields of a record in columns, `args` or `extra`; see event-parse.h. */
#include "pfw/event-parse.h"

#include <string.h>

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

bool pfw_is_time(const struct pfw_context *ctx, const struct pfw_field *f)
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

static bool ends_in_hash(const struct pfw_field *f)
{
	return f->key_bytes > 5 && !memcmp(f->key + f->key_bytes - 5, "_hash", 5);
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
	if (ends_in_hash(f))
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
	int place;

	if (has_place(e, f) || f->kind != JSONSCAN_INTEGER || !pfw_parse_int(f->value, f->bytes, &v))
		return PFW_ROLE_NONE;
	place = pfw_dims_call_arg(e->cache->dims, e->call, f->key, f->key_bytes);
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

/* Item size times item count is the number of bytes requested. */
static void find_product(struct pfw_event *e, const struct pfw_line *line)
{
	const struct pfw_field *size = pfw_line_arg(line, PFW_KEY_size), *count = pfw_line_arg(line, PFW_KEY_count);

	e->has_product = e->table == STORE_TABLE_IO && size && count && size->kind == JSONSCAN_INTEGER &&
			count->kind == JSONSCAN_INTEGER;
}

static void note_product(struct pfw_event *e, const struct pfw_field *f)
{
	if (f->id == PFW_KEY_size)
		e->product[0] = f->column;
	if (f->id == PFW_KEY_count)
		e->product[1] = f->column;
}

void pfw_fields_put(struct pfw_event *e, const struct pfw_context *ctx, struct pfw_line *line)
{
	unsigned products = 0;

	find_product(e, line);
	for (size_t i = 0; i < line->count; i++) {
		struct pfw_field *f = &line->fields[i];

		f->role = f->is_arg ? put_arg(e, ctx, f) : put_top(e, ctx, f);
		if (!f->role)
			f->role = f->is_arg ? PFW_ROLE_ARGS : PFW_ROLE_EXTRA;
		if (e->has_product && f->is_arg && (f->id == PFW_KEY_size || f->id == PFW_KEY_count)) {
			note_product(e, f);
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

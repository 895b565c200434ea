/* Learns the template (struct shape) of a line. */
#include "pfw/line-template-private.h"

#include <stdlib.h>
#include <string.h>

void shape_free(struct shape *s)
{
	free(s->fixed);
	free(s);
}

/*
 * Returns whether another value of this kind would have another destination. Then the line is not usable as a template.
 */
static bool is_exception(const struct pfw_field *f, enum store_table_id table)
{
	int64_t v;

	switch (f->id) {
	case PFW_KEY_id:
	case PFW_KEY_ts:
	case PFW_KEY_dur:
	case PFW_KEY_pid:
	case PFW_KEY_tid:
	case PFW_KEY_level:
	case PFW_KEY_p_idx:
	case PFW_KEY_hhash:
	case PFW_KEY_hostname:
		return true;
	case PFW_KEY_ret:
	case PFW_KEY_fd:
	case PFW_KEY_offset:
	case PFW_KEY_count:
	case PFW_KEY_size:
	case PFW_KEY_fhash:
	case PFW_KEY_fname:
	case PFW_KEY_mode:
		return table == STORE_TABLE_IO && f->is_arg;
	default:
		break;
	}
	if (table != STORE_TABLE_IO || !f->is_arg)
		return false;
	if (f->kind == JSONSCAN_INTEGER && !pfw_parse_int(f->value, f->bytes, &v))
		return true;
	return f->key_bytes > 5 && !memcmp(f->key + f->key_bytes - 5, "_hash", 5);
}

static bool is_left(const struct pfw_field *f)
{
	return f->role == PFW_ROLE_ARGS || f->role == PFW_ROLE_EXTRA;
}

static bool is_learnable(const struct pfw_line *line, const struct pfw_event *e)
{
	if (e->table == STORE_TABLE_LINE || !e->process || line->count > SLOTS_MAX)
		return false;
	for (size_t i = 0; i < line->count; i++) {
		const struct pfw_field *f = &line->fields[i];
		bool is_fixed = f == e->name || f == e->category || f == e->phase;

		if (is_left(f) && (f->flags & JSONSCAN_HAS_ODD))
			return false;
		if (f->role == PFW_ROLE_FILE2 && (f->flags & (JSONSCAN_HAS_ODD | JSONSCAN_HAS_ESCAPE)))
			return false;
		if (is_left(f) && !is_fixed && is_exception(f, e->table))
			return false;
		if (is_left(f) && (f->kind == JSONSCAN_OBJECT || f->kind == JSONSCAN_ARRAY))
			return false;
		if (f->role == PFW_ROLE_COLUMN && (f->kind == JSONSCAN_REAL || f->bytes > 16))
			return false;
		if (f->role == PFW_ROLE_COLUMN && f->kind == JSONSCAN_STRING && memchr(f->value, '.', f->bytes))
			return false;
	}
	return true;
}

static enum slot_op op_of(const struct pfw_field *f, bool is_fixed)
{
	if (is_fixed || f->kind == JSONSCAN_WORD)
		return SLOT_FIXED;
	if (f->role == PFW_ROLE_COLUMN)
		return SLOT_SCALED;
	if (is_left(f))
		return f->kind == JSONSCAN_STRING ? SLOT_STRING : SLOT_NUMBER;
	return f->role == PFW_ROLE_TEXT ? SLOT_STRING : SLOT_SAME;
}

static enum slot_left left_of(const struct pfw_field *f)
{
	if (f->role == PFW_ROLE_ARGS || f->role == PFW_ROLE_FILE2)
		return LEFT_ARGS;
	return f->role == PFW_ROLE_EXTRA ? LEFT_EXTRA : LEFT_NONE;
}

/* Sets the scale of a column; columns with unscaled numbers need none. */
static void set_scale(struct slot *slot, const struct pfw_scale *scales, const struct pfw_scale *wanted)
{
	slot->scale = SCALE_PLAIN;
	for (unsigned i = 0; i < SCALES; i++)
		if (!memcmp(&scales[i], wanted, sizeof(*wanted)))
			slot->scale = (uint8_t)i;
	slot->op = slot->scale == SCALE_PLAIN ? SLOT_INT : SLOT_SCALED;
}

/* Returns whether the number has the same number of digits in most lines. */
static bool is_steady(const struct pfw_field *f)
{
	return f->id == PFW_KEY_id || f->id == PFW_KEY_ts || f->id == PFW_KEY_p_idx || f->id == PFW_KEY_level ||
			f->id == PFW_KEY_fd;
}

/* Adds a slot for this field; the constant text before it starts at *from. */
static void add_slot(struct shape *s, const struct pfw_context *ctx, const struct pfw_field *f, const char *begin,
		const char **from, bool is_fixed)
{
	struct slot *slot = &s->slots[s->slot_count++];
	enum slot_op op = op_of(f, is_fixed);
	const char *value = op == SLOT_FIXED ? f->to : f->value;

	slot->op = (uint8_t)op;
	slot->role = f->role;
	slot->kind = op == SLOT_FIXED ? JSONSCAN_WORD : f->kind;
	slot->column = f->column;
	slot->left = (uint8_t)left_of(f);
	slot->prefix = (uint16_t)(value - f->from);
	slot->fixed_at = (uint16_t)(*from - begin);
	slot->fixed_bytes = (uint16_t)(value - *from);
	slot->fixed_mask = first_mask(slot->fixed_bytes);
	if (op == SLOT_SCALED) {
		struct pfw_scale scale = pfw_scale_of(ctx, s->table, f->column);

		set_scale(slot, s->scales, &scale);
		slot->usual = is_steady(f) ? (uint8_t)f->bytes : USUAL_VARIES;
	}
	if (op == SLOT_SAME) {
		slot->same = (uint8_t)s->same_count++;
		remember(&s->sames[slot->same], &(struct value){ f->value, f->bytes });
	}
	if (slot->left)
		s->has_left = true;
	*from = op == SLOT_FIXED ? f->to : f->value + f->bytes;
}

static void add_slots(struct shape *s, const struct pfw_context *ctx, const char *at, size_t n,
		const struct pfw_line *line, const struct pfw_event *e)
{
	const char *from = at;

	for (size_t i = 0; i < line->count; i++) {
		const struct pfw_field *f = &line->fields[i];
		bool is_fixed = f == e->name || f == e->category || f == e->phase;

		if (f->role != PFW_ROLE_FIXED)
			add_slot(s, ctx, f, at, &from, is_fixed);
		s->has_file |= f->role == PFW_ROLE_FILE;
		s->has_file2 |= f->role == PFW_ROLE_FILE2;
		s->has_file_name |= f->role == PFW_ROLE_FILENAME;
	}
	s->end_at = (uint32_t)(from - at);
	s->end_bytes = (uint32_t)(at + n - from);
	s->end_mask = first_mask(s->end_bytes);
}

/* Copies the values of the SAME slots from the line's event. */
static void take_facts(struct shape *s, const struct pfw_event *e)
{
	s->process = e->process;
	s->facts = (struct facts){ .process = e->process->key,
		.tid = e->tid,
		.file_hash = e->file_hash,
		.file2_hash = e->file2_hash,
		.forms = e->forms };
	memcpy(&s->row, &e->row, sizeof(s->row));
	if (s->table == STORE_TABLE_IO) {
		s->facts.file_name = e->row.io.file;
		s->row.io.args = e->row.io.args ? &s->args : NULL;
		s->row.io.extra = e->row.io.extra ? &s->extra : NULL;
		s->row.io.text = e->row.io.text ? &s->text : NULL;
	} else {
		s->row.span.args = e->row.span.args ? &s->args : NULL;
		s->row.span.extra = e->row.span.extra ? &s->extra : NULL;
	}
}

/* FNV-1a (Fowler, Noll, Vo) */
static uint64_t add_to_hash(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash;
}

/* Lines of the same template have the same signature: the constant text and the kinds of the values. */
static uint64_t sign(const struct shape *s)
{
	uint64_t hash = add_to_hash(0xcbf29ce484222325u, s->fixed + s->end_at, s->end_bytes);

	for (unsigned i = 0; i < s->slot_count; i++) {
		const struct slot *slot = &s->slots[i];
		uint8_t what[4] = { slot->op, slot->kind, slot->role, slot->column };

		hash = add_to_hash(hash, s->fixed + slot->fixed_at, slot->fixed_bytes);
		hash = add_to_hash(hash, what, sizeof(what));
	}
	return hash;
}

struct shape *shape_learn(const struct pfw_context *ctx, const struct pfw_scale *scales, const char *at, size_t n,
		const struct pfw_line *line, const struct pfw_event *e)
{
	struct shape *s = n <= SHAPE_LINE_MAX && is_learnable(line, e) ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	s->fixed = calloc(1, n + PFW_PADDING);
	if (!s->fixed) {
		free(s);
		return NULL;
	}
	memcpy(s->fixed, at, n);
	s->scales = scales;
	s->table = e->table;
	s->key = shape_key(at);
	s->is_hostless = e->is_hostless;
	s->has_left = e->is_hostless;
	s->has_product = e->has_product;
	memcpy(s->product, e->product, sizeof(s->product));
	s->ts_column = s->table == STORE_TABLE_IO ? STORE_IO_ts_ns : STORE_SPAN_ts_ns;
	s->dur_column = s->table == STORE_TABLE_IO ? STORE_IO_dur_ns : STORE_SPAN_dur_ns;
	add_slots(s, ctx, at, n, line, e);
	take_facts(s, e);
	s->signature = sign(s);
	return s;
}

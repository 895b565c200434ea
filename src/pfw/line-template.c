/* Stores and finds templates, and resolves their slots. */
#include "pfw/line-template.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Learns the template (struct shape) of a line. */

static void shape_free(struct shape *s)
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

		/* Columns with unscaled numbers need no scale. */
		slot->scale = SCALE_PLAIN;
		for (unsigned i = 0; i < SCALES; i++)
			if (!memcmp(&s->scales[i], &scale, sizeof(scale)))
				slot->scale = (uint8_t)i;
		slot->op = slot->scale == SCALE_PLAIN ? SLOT_INT : SLOT_SCALED;
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

/* Copies the values of the SAME slots from the line's event. */
static void add_facts(struct shape *s, const struct pfw_event *e)
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

/* The template of this line, or NULL if it cannot be one. `scales` must stay valid. */
static struct shape *shape_learn(const struct pfw_context *ctx, const struct pfw_scale *scales, const char *at,
		size_t n, const struct pfw_line *line, const struct pfw_event *e)
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
	add_facts(s, e);
	/* Lines of the same template have the same signature: the constant text and the kinds of the values. */
	uint64_t hash = add_to_hash(0xcbf29ce484222325u, s->fixed + s->end_at, s->end_bytes);
	for (unsigned i = 0; i < s->slot_count; i++) {
		const struct slot *slot = &s->slots[i];
		uint8_t what[4] = { slot->op, slot->kind, slot->role, slot->column };
		hash = add_to_hash(hash, s->fixed + slot->fixed_at, slot->fixed_bytes);
		hash = add_to_hash(hash, what, sizeof(what));
	}
	s->signature = hash;
	return s;
}

#define SHAPES_MAX 2048u
#define CHAINS 4096u
#define CHAIN_MAX 32u                       /* limits the cost of lines that are all different */
#define TEXT_ROOM (2 * SHAPE_LINE_MAX + 64) /* copies may overrun by up to 31 bytes */

struct pfw_shapes {
	struct pfw_cache *cache;
	struct pfw_context ctx;
	struct pfw_scale scales[SCALES];
	struct shape none; /* follows itself and matches nothing: no line starts with a newline */
	char no_line[32];
	struct shape *last;
	size_t count;
	struct shape *all[SHAPES_MAX];
	struct shape *chains[CHAINS];
	char args[TEXT_ROOM], extra[TEXT_ROOM];
};

static void forget(struct pfw_shapes *ss)
{
	for (size_t i = 0; i < ss->count; i++)
		shape_free(ss->all[i]);
	ss->count = 0;
	ss->none.follows = ss->last = &ss->none;
	memset(ss->chains, 0, sizeof(ss->chains));
}

int pfw_shapes_open(struct pfw_shapes **out, struct pfw_cache *cache)
{
	struct pfw_shapes *ss = calloc(1, sizeof(*ss));

	if (!ss)
		return -ENOMEM;
	ss->cache = cache;
	ss->no_line[0] = '\n';
	ss->none.fixed = ss->no_line;
	ss->none.end_bytes = 1;
	ss->none.end_mask = 1;
	forget(ss);
	*out = ss;
	return 0;
}

void pfw_shapes_free(struct pfw_shapes *ss)
{
	if (!ss)
		return;
	forget(ss);
	free(ss);
}

void pfw_shapes_context(struct pfw_shapes *ss, const struct pfw_context *ctx)
{
	if (ss->ctx.unit_ns != ctx->unit_ns || ss->ctx.host_kind != ctx->host_kind || ss->ctx.host != ctx->host)
		forget(ss);
	ss->ctx = *ctx;
	ss->scales[SCALE_TIME] = pfw_scale_of(ctx, STORE_TABLE_IO, STORE_IO_ts_ns);
	ss->scales[SCALE_DURATION] = pfw_scale_of(ctx, STORE_TABLE_IO, STORE_IO_dur_ns);
	ss->scales[SCALE_LEVEL] = pfw_scale_of(ctx, STORE_TABLE_IO, STORE_IO_depth);
	ss->scales[SCALE_PLAIN] = pfw_scale_of(ctx, STORE_TABLE_IO, STORE_IO_ret);
}

/* Values of the SAME slots. */

static bool parse_hash(const struct slot *slot, const struct value *v, uint64_t *hash)
{
	return slot->kind == JSONSCAN_STRING ? pfw_parse_hex(v->at, v->bytes, hash)
					     : pfw_parse_uint(v->at, v->bytes, hash);
}

static bool parse_name(struct pfw_shapes *ss, const struct value *v, int64_t *name)
{
	*name = pfw_cache_string(ss->cache, v->at, v->bytes);
	return *name != STORE_NULL;
}

static bool parse_fact(struct pfw_shapes *ss, const struct slot *slot, const struct value *v, struct facts *f)
{
	int64_t name;

	switch (slot->role) {
	case PFW_ROLE_PID:
		return pfw_parse_int(v->at, v->bytes, &f->process.pid);
	case PFW_ROLE_TID:
		return pfw_parse_int(v->at, v->bytes, &f->tid);
	case PFW_ROLE_HOST:
		f->process.host_kind = PFW_HOST_HASH;
		if (!parse_hash(slot, v, &f->process.host))
			return false;
		f->forms &= ~(unsigned)(PFW_FORM_HEX_HASH | PFW_FORM_SHORT_HASH | PFW_FORM_INTEGER_HASH);
		if (slot->kind == JSONSCAN_STRING)
			f->forms |= PFW_FORM_HEX_HASH;
		else
			f->forms |= f->process.host <= PFW_SHORT_HASH_MAX ? PFW_FORM_SHORT_HASH : PFW_FORM_INTEGER_HASH;
		return true;
	case PFW_ROLE_HOSTNAME:
		f->process.host_kind = PFW_HOST_NAME;
		if (!parse_name(ss, v, &name))
			return false;
		f->process.host = (uint64_t)name;
		return true;
	case PFW_ROLE_FILE:
		return parse_hash(slot, v, &f->file_hash);
	case PFW_ROLE_FILE2:
		return parse_hash(slot, v, &f->file2_hash);
	default:
		if (!parse_name(ss, v, &name))
			return false;
		f->file_name = pfw_dims_named_file(ss->cache->dims, name);
		return f->file_name != STORE_NULL;
	}
}

/* Returns false if the general parser must handle the line: a number is too large, or the tables are full. */
static bool resolve(struct pfw_shapes *ss, struct shape *s, const struct value *values, uint32_t changed)
{
	struct facts facts = s->facts;
	struct pfw_process *process = s->process;

	for (uint32_t left = changed; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		if (!parse_fact(ss, &s->slots[i], &values[i], &facts))
			return false;
	}
	if (memcmp(&facts.process, &s->facts.process, sizeof(facts.process)) != 0)
		process = pfw_cache_process(ss->cache, &facts.process);
	if (!process)
		return false;
	for (uint32_t left = changed; left; left &= left - 1)
		remember(&s->sames[s->slots[__builtin_ctz(left)].same], &values[__builtin_ctz(left)]);
	bool is_moved = process != s->process || facts.tid != s->facts.tid;
	s->facts = facts;
	s->process = process;
	if (is_moved) {
		s->epoch = 0;
		int64_t number = s->process->number, pid = s->facts.process.pid;
		if (s->table == STORE_TABLE_IO) {
			s->row.io.process = number;
			s->row.io.pid = pid;
			s->row.io.tid = s->facts.tid;
		} else {
			s->row.span.process = number;
			s->row.span.pid = pid;
			s->row.span.tid = s->facts.tid;
		}
		if (s->facts.forms & ~s->process->forms)
			atomic_fetch_or(&s->process->forms, s->facts.forms);
	}
	if (s->table == STORE_TABLE_IO) {
		if (s->has_file)
			s->row.io.file = pfw_cache_file(ss->cache, s->process, s->facts.file_hash);
		else if (s->has_file_name)
			s->row.io.file = s->facts.file_name;
		if (s->has_file2)
			s->row.io.file2 = pfw_cache_file(ss->cache, s->process, s->facts.file2_hash);
	}
	return true;
}

/* Texts. */

static char *copy(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n; i += 32)
		memcpy(to + i, from + i, 32);
	return to + n;
}

/* Writes the slots of that destination as a JSON object; returns its length, 0 if there are none. */
static size_t compose(const struct shape *s, const struct value *values, enum slot_left left, char *out)
{
	char *to = out;

	if (left == LEFT_EXTRA && s->is_hostless)
		to = copy(to, "{\"hhash\":null                    ", 13);
	for (unsigned i = 0; i < s->slot_count; i++) {
		const struct slot *slot = &s->slots[i];

		if (slot->left != left)
			continue;
		*to = to == out ? '{' : ',';
		to = copy(to + 1, values[i].at - slot->prefix,
				slot->prefix + values[i].bytes + (slot->kind == JSONSCAN_STRING));
	}
	if (to == out)
		return 0;
	*to++ = '}';
	return (size_t)(to - out);
}

static size_t put_texts(struct pfw_shapes *ss, struct shape *s, const struct value *values)
{
	size_t bytes = 0;

	if (s->has_left) {
		s->args = (struct store_text){ ss->args, compose(s, values, LEFT_ARGS, ss->args) };
		s->extra = (struct store_text){ ss->extra, compose(s, values, LEFT_EXTRA, ss->extra) };
		bytes = s->args.bytes + s->extra.bytes;
	}
	if (s->table != STORE_TABLE_IO || !s->row.io.text)
		return bytes;
	for (unsigned i = 0; i < s->slot_count; i++)
		if (s->slots[i].role == PFW_ROLE_TEXT)
			s->text = (struct store_text){ values[i].at, values[i].bytes };
	return bytes + s->text.bytes;
}

/* Matching. */

/* Searches the templates of its name. */
static struct shape *search(struct pfw_shapes *ss, const char *at, struct value *values, uint32_t *changed,
		const char **to)
{
	uint64_t key = shape_key(at);

	for (struct shape *s = ss->chains[key % CHAINS]; s; s = s->next) {
		*to = s->key == key ? shape_match(s, at, values, changed) : NULL;
		if (*to)
			return s;
	}
	return NULL;
}

/* The template that followed last time is tried first: that is cheaper than hashing the name. */
static struct shape *find(struct pfw_shapes *ss, const char *at, struct value *values, uint32_t *changed,
		const char **to)
{
	struct shape *s = ss->last->follows;

	*to = shape_match(s, at, values, changed);
	if (__builtin_expect(*to != NULL, true))
		return s;
	s = search(ss, at, values, changed, to);
	if (s)
		ss->last->follows = s;
	return s;
}

bool pfw_shapes_match(struct pfw_shapes *ss, const char *at, struct pfw_match *match)
{
	struct value values[SLOTS_MAX];
	uint32_t changed = 0;
	struct shape *s = *at == '\n' ? NULL : find(ss, at, values, &changed, &match->end);

	if (!s || match->end - at > (ptrdiff_t)SHAPE_LINE_MAX || (changed && !resolve(ss, s, values, changed)))
		return false;
	if (s->epoch != ss->cache->epoch) {
		s->thread = pfw_cache_thread(ss->cache, s->process, s->facts.tid);
		s->epoch = ss->cache->epoch;
	}
	if (s->has_product)
		s->row.io.size = pfw_product(s->row.words[s->product[0]], s->row.words[s->product[1]]);
	ss->last = s;
	match->table = s->table;
	match->row = &s->row;
	match->text_bytes = put_texts(ss, s, values);
	match->thread = s->thread;
	match->ts_ns = s->row.words[s->ts_column];
	match->dur_ns = s->row.words[s->dur_column];
	return true;
}

/* Learning. */

/* Returns whether the chain has room for the template and does not contain it. */
static bool is_wanted(const struct pfw_shapes *ss, const struct shape *s)
{
	unsigned count = 0;

	for (const struct shape *other = ss->chains[s->key % CHAINS]; other; other = other->next)
		if (other->signature == s->signature || ++count == CHAIN_MAX)
			return false;
	return true;
}

void pfw_shapes_learn(struct pfw_shapes *ss, const char *at, size_t n, const struct pfw_line *line,
		const struct pfw_event *e)
{
	struct shape *s = ss->count < SHAPES_MAX ? shape_learn(&ss->ctx, ss->scales, at, n, line, e) : NULL;

	if (!s)
		return;
	if (!is_wanted(ss, s)) {
		shape_free(s);
		return;
	}
	s->next = ss->chains[s->key % CHAINS];
	ss->chains[s->key % CHAINS] = s;
	ss->all[ss->count++] = s;
	ss->last->follows = s;
	s->follows = s;
	ss->last = s;
}

/* Stores and finds templates, and resolves their slots. */
#include "pfw/line-template.h"

#include "pfw/line-template-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static bool parse_host(const struct slot *slot, const struct value *v, struct facts *f)
{
	const unsigned hashes = PFW_FORM_HEX_HASH | PFW_FORM_SHORT_HASH | PFW_FORM_INTEGER_HASH;

	f->process.host_kind = PFW_HOST_HASH;
	if (!parse_hash(slot, v, &f->process.host))
		return false;
	f->forms &= ~hashes;
	if (slot->kind == JSONSCAN_STRING)
		f->forms |= PFW_FORM_HEX_HASH;
	else
		f->forms |= f->process.host <= PFW_SHORT_HASH_MAX ? PFW_FORM_SHORT_HASH : PFW_FORM_INTEGER_HASH;
	return true;
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
		return parse_host(slot, v, f);
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

static void put_files(struct pfw_shapes *ss, struct shape *s)
{
	if (s->has_file)
		s->row.io.file = pfw_cache_file(ss->cache, s->process, s->facts.file_hash);
	else if (s->has_file_name)
		s->row.io.file = s->facts.file_name;
	if (s->has_file2)
		s->row.io.file2 = pfw_cache_file(ss->cache, s->process, s->facts.file2_hash);
}

static void put_process(struct shape *s)
{
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

/* Returns false if the general parser must handle the line: a number is too large, or the tables are full. */
static bool resolve(struct pfw_shapes *ss, struct shape *s, const struct value *values, uint32_t changed)
{
	struct facts facts = s->facts;
	struct pfw_process *process = s->process;
	bool is_moved;

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
	is_moved = process != s->process || facts.tid != s->facts.tid;
	s->facts = facts;
	s->process = process;
	if (is_moved) {
		s->epoch = 0;
		put_process(s);
	}
	if (s->table == STORE_TABLE_IO)
		put_files(ss, s);
	return true;
}

static void find_thread(struct pfw_shapes *ss, struct shape *s)
{
	s->thread = pfw_cache_thread(ss->cache, s->process, s->facts.tid);
	s->epoch = ss->cache->epoch;
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
	if (s->epoch != ss->cache->epoch)
		find_thread(ss, s);
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

/* Dispatches each kind of record to its function, and handles definitions; see emit.h. */
#include "record/emit.h"

#include "base/vec.h"

#include <string.h>

#define NAMES_MAX (1u << 20)

int64_t emit_ns(struct drain *d, uint64_t ticks)
{
	int64_t ns = d->ring->control->clock == SONDE_CLOCK_TICKS ? tick_line_ns(&d->line, ticks) : (int64_t)ticks;
	return ns < 0 ? 0 : ns > EMIT_NS_MAX ? EMIT_NS_MAX : ns;
}

int64_t emit_string(struct drain *d, const struct store_text *t)
{
	return store_strings_id(&d->sink->strings, t->data, t->bytes);
}

/* The thread's entry; most records have the same thread as the record before. */
struct drain_thread *emit_thread(struct drain_process *p, int32_t pid, int32_t tid, int64_t now_ns)
{
	size_t hint = p->thread_hint;
	if (hint < p->thread_count && p->threads[hint].tid == tid && p->threads[hint].pid == pid)
		return &p->threads[hint];
	for (size_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].tid == tid && p->threads[i].pid == pid) {
			p->thread_hint = i;
			return &p->threads[i];
		}
	if (!VEC_GROW(p->threads, p->thread_cap, p->thread_count + 1, VEC_MAX))
		return NULL;
	p->thread_hint = p->thread_count;
	p->threads[p->thread_count] = (struct drain_thread){ .pid = pid, .tid = tid, .start_ns = now_ns };
	return &p->threads[p->thread_count++];
}

void emit_count(struct drain *d, struct drain_process *p, const struct drain_chunk *c, int64_t ts_ns, int64_t end_ns)
{
	struct drain_thread *t = emit_thread(p, c->pid, c->tid, ts_ns);
	d->events++;
	p->events++;
	if (!t)
		return;
	t->events++;
	if (end_ns > t->last_ns)
		t->last_ns = end_ns;
}

void drain_count(struct drain *d, const struct store_io *row)
{
	struct drain_process *p = drain_by_pid(d, (int32_t)row->pid);
	struct drain_thread *t = p ? emit_thread(p, (int32_t)row->pid, (int32_t)row->tid, row->ts_ns) : NULL;
	if (!t)
		return;
	p->events++;
	t->events++;
	if (row->ts_ns + row->dur_ns > t->last_ns)
		t->last_ns = row->ts_ns + row->dur_ns;
}

/* Definitions. */

bool emit_name(struct drain *d, struct drain_process *p, uint64_t id, bool is_last_chance, int64_t *name)
{
	*name = STORE_NULL;
	if (!id)
		return true;
	if (id < p->name_cap && p->names[id]) {
		*name = p->names[id];
		return true;
	}
	if (is_last_chance)
		*name = store_strings_of(&d->sink->strings, "?");
	return is_last_chance;
}

static void emit_define(struct drain *d, uint32_t process, enum define_kind kind, uint64_t id,
		const struct store_text *text)
{
	struct store_define row = { .process = process,
		.kind = kind,
		.id = (int64_t)id,
		.string = emit_string(d, text) };
	store_sink_add(d->sink, STORE_TABLE_DEFINE, &row);
}

/* Names are numbered from 1 in order, so an array suffices, up to a number that no valid process reaches. */
static bool has_room_for_name(struct drain_process *p, uint64_t id)
{
	if (id < p->name_cap)
		return true;
	if (id >= NAMES_MAX)
		return false;
	size_t old = p->name_cap;
	if (!VEC_GROW(p->names, p->name_cap, id + 1, NAMES_MAX))
		return false;
	memset(p->names + old, 0, (p->name_cap - old) * sizeof(*p->names));
	return true;
}

void drain_define(struct drain *d, struct drain_process *p, enum define_kind kind, uint64_t id,
		const struct store_text *text)
{
	if (kind == DEFINE_NAME) {
		if (has_room_for_name(p, id))
			p->names[id] = emit_string(d, text);
	} else if (kind == DEFINE_EXE) {
		p->exe = emit_string(d, text);
	} else if (kind == DEFINE_CWD) {
		p->cwd = emit_string(d, text);
	} else if (kind == DEFINE_ARGV) {
		p->argv.data = arena_copy(&d->arena, text->data, text->bytes);
		p->argv.bytes = text->bytes;
	}
}

static enum emit_result read_string(struct drain *d, struct drain_process *p, struct drain_chunk *c,
		bool is_last_chance)
{
	const struct ring_record *v = &d->ring_record;
	if (v->string_count) {
		drain_define(d, p, DEFINE_NAME, ring_record_def(v)->id, &v->strings[0]);
		emit_define(d, p->number, DEFINE_NAME, ring_record_def(v)->id, &v->strings[0]);
	}
	return EMIT_DONE;
}

static enum emit_result receive_file(struct drain *d, struct drain_process *p, struct drain_chunk *c,
		bool is_last_chance)
{
	const struct sonde_rec_def *r = ring_record_def(&d->ring_record);
	if (d->ring_record.string_count)
		store_sink_file(d->sink, (int64_t)(r->id & INT64_MAX), (int64_t)(r->base & INT64_MAX),
				emit_string(d, &d->ring_record.strings[0]));
	return EMIT_DONE;
}

static enum emit_result read_process(struct drain *d, struct drain_process *p, struct drain_chunk *c,
		bool is_last_chance)
{
	const struct ring_record *v = &d->ring_record;
	for (unsigned i = 0; i < v->string_count && i < 3; i++) {
		drain_define(d, p, DEFINE_EXE + i, 0, &v->strings[i]);
		emit_define(d, p->number, DEFINE_EXE + i, 0, &v->strings[i]);
	}
	return EMIT_DONE;
}

static enum emit_result take_who(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	c->pid = ring_record_who(&d->ring_record)->pid;
	c->tid = ring_record_who(&d->ring_record)->tid;
	return EMIT_DONE;
}

static enum emit_result add_module(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct sonde_rec_def *r = ring_record_def(&d->ring_record);
	if (d->ring_record.string_count)
		symbols_add(&p->symbols, r->id, r->base, d->ring_record.strings[0].data,
				d->ring_record.strings[0].bytes);
	return EMIT_DONE;
}

static emit_fn *const emit[SONDE_REC_KINDS] = {
	[SONDE_REC_CALL] = emit_plain_call,
	[SONDE_REC_RUN] = emit_call,
	[SONDE_REC_EXEC] = emit_exec,
	[SONDE_REC_SPAN] = emit_span,
	[SONDE_REC_INSTANT] = emit_instant,
	[SONDE_REC_COUNTER] = emit_counter,
	[SONDE_REC_STEP] = emit_step,
	[SONDE_REC_META] = emit_meta,
	[SONDE_REC_FUNC] = emit_func,
	[SONDE_REC_STRING] = read_string,
	[SONDE_REC_FILE] = receive_file,
	[SONDE_REC_PROCESS] = read_process,
	[SONDE_REC_WHO] = take_who,
	[SONDE_REC_MODULE] = add_module,
	[SONDE_REC_GPU] = emit_gpu,
};

enum emit_result emit_record(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	return emit[d->ring_record.head->kind](d, p, c, is_last_chance);
}

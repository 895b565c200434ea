/* Converts annotations to rows: spans, functions, instants, counters, steps, metadata; see emit.h. */
#include "base/json.h"
#include "record/emit.h"
#include "record/symbols.h"

#include <stdio.h>
#include <string.h>

static void key_text(struct drain *d, int64_t id, char name[128])
{
	size_t len = 0;
	const char *text = id == STORE_NULL || id < 1 ? NULL : map_key(&d->sink->strings.ids, (size_t)id - 1, &len);
	snprintf(name, 128, "%.*s", text ? (int)(len < 127 ? len : 127) : 1, text ? text : "?");
}

static bool args_text(struct drain *d, struct drain_process *p, bool is_last_chance, struct store_text *out)
{
	const struct ring_record *v = &d->ring_record;
	struct sonde_arg arg;
	struct store_text text = { 0 };
	struct json j;
	size_t at = 0;
	buf_reset(&d->scratch);
	json_init(&j, &d->scratch, false);
	json_object(&j);
	for (unsigned i = 0; i < v->head->call && ring_record_next_arg(v, &at, &arg, &text); i++) {
		int64_t key;
		char name[128];
		if (!emit_name(d, p, arg.key, is_last_chance, &key))
			return false;
		key_text(d, key, name);
		json_key(&j, name);
		if (arg.type == SONDE_ARG_INT)
			json_int(&j, arg.value.i);
		else if (arg.type == SONDE_ARG_UINT)
			json_uint(&j, arg.value.u);
		else if (arg.type == SONDE_ARG_REAL)
			json_real(&j, arg.value.r);
		else if (arg.type == SONDE_ARG_STR)
			json_strn(&j, text.data, text.bytes);
		else
			json_null(&j);
	}
	json_end(&j);
	*out = (struct store_text){ .data = d->scratch.data, .bytes = d->scratch.len };
	return true;
}

struct note {
	int64_t ts_ns, name, category;
	struct store_text args;
	bool has_args;
};

static bool note_of(struct drain *d, struct drain_process *p, bool is_last_chance, struct note *n)
{
	const struct sonde_rec_note *r = ring_record_note(&d->ring_record);
	n->ts_ns = emit_ns(d, r->ticks);
	n->has_args = r->head.call > 0;
	return emit_name(d, p, r->name, is_last_chance, &n->name) &&
			emit_name(d, p, r->category, is_last_chance, &n->category) &&
			(!n->has_args || args_text(d, p, is_last_chance, &n->args));
}

enum emit_result emit_span(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct sonde_rec_note *r = ring_record_note(&d->ring_record);
	struct note n;
	if (!note_of(d, p, is_last_chance, &n))
		return EMIT_WAIT;
	int64_t end_ns = emit_ns(d, r->ticks + r->dur_ticks);
	struct store_span row = { .ts_ns = n.ts_ns,
		.dur_ns = end_ns - n.ts_ns,
		.process = p->number,
		.pid = c->pid,
		.tid = c->tid,
		.name = n.name,
		.category = n.category,
		.depth = r->depth,
		.id = STORE_NULL,
		.parent = STORE_NULL,
		.args = n.has_args ? &n.args : NULL };
	emit_count(d, p, c, n.ts_ns, end_ns);
	store_sink_add(d->sink, STORE_TABLE_SPAN, &row);
	return EMIT_DONE;
}

enum emit_result emit_func(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct sonde_rec_note *r = ring_record_note(&d->ring_record);
	int64_t ts_ns = emit_ns(d, r->ticks), end_ns = emit_ns(d, r->ticks + r->dur_ticks);
	struct store_span row = { .ts_ns = ts_ns,
		.dur_ns = end_ns - ts_ns,
		.process = p->number,
		.pid = c->pid,
		.tid = c->tid,
		.name = symbols_name(&p->symbols, &d->sink->strings, r->name),
		.category = store_strings_of(&d->sink->strings, "function"),
		.depth = r->depth,
		.id = STORE_NULL,
		.parent = STORE_NULL };
	emit_count(d, p, c, ts_ns, end_ns);
	store_sink_add(d->sink, STORE_TABLE_SPAN, &row);
	return EMIT_DONE;
}

void emit_open_span(struct drain *d, struct drain_process *p, const struct drain_chunk *c,
		const struct sonde_open_span *span, uint32_t depth, int64_t end_ns)
{
	struct store_span row = { .ts_ns = emit_ns(d, span->ticks),
		.process = p->number,
		.pid = c->pid,
		.tid = c->tid,
		.category = STORE_NULL,
		.depth = depth,
		.id = STORE_NULL,
		.parent = STORE_NULL,
		.is_open = 1 };
	struct drain_thread *t = emit_thread(p, c->pid, c->tid, row.ts_ns);
	if (d->epollfd < 0 && t)
		end_ns = t->last_ns; /* its end was not recorded: use the last known time */
	row.dur_ns = end_ns > row.ts_ns ? end_ns - row.ts_ns : 0;
	if (span->what >> 63)
		row.name = symbols_name(&p->symbols, &d->sink->strings, span->what & INT64_MAX);
	else
		emit_name(d, p, span->what, true, &row.name);
	emit_count(d, p, c, row.ts_ns, row.ts_ns);
	store_sink_add(d->sink, STORE_TABLE_SPAN, &row);
}

enum emit_result emit_instant(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	struct note n;
	if (!note_of(d, p, is_last_chance, &n))
		return EMIT_WAIT;
	struct store_mark row = { .ts_ns = n.ts_ns,
		.process = p->number,
		.pid = c->pid,
		.tid = c->tid,
		.name = n.name,
		.category = n.category,
		.args = n.has_args ? &n.args : NULL };
	emit_count(d, p, c, n.ts_ns, n.ts_ns);
	store_sink_add(d->sink, STORE_TABLE_MARK, &row);
	return EMIT_DONE;
}

enum emit_result emit_counter(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	struct note n;
	if (!note_of(d, p, is_last_chance, &n))
		return EMIT_WAIT;
	struct store_counter row = { .ts_ns = n.ts_ns,
		.process = p->number,
		.pid = c->pid,
		.tid = c->tid,
		.name = n.name,
		.value = ring_record_note(&d->ring_record)->value };
	emit_count(d, p, c, n.ts_ns, n.ts_ns);
	store_sink_add(d->sink, STORE_TABLE_COUNTER, &row);
	return EMIT_DONE;
}

enum emit_result emit_step(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	struct note n;
	if (!note_of(d, p, is_last_chance, &n))
		return EMIT_WAIT;
	struct store_step row = { .ts_ns = n.ts_ns,
		.process = p->number,
		.pid = c->pid,
		.tid = c->tid,
		.name = n.name,
		.index = ring_record_note(&d->ring_record)->index,
		.value = ring_record_note(&d->ring_record)->value };
	emit_count(d, p, c, n.ts_ns, n.ts_ns);
	if (d->step)
		d->step(d->step_arg, &row);
	else
		store_sink_add(d->sink, STORE_TABLE_STEP, &row);
	return EMIT_DONE;
}

enum emit_result emit_meta(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct ring_record *v = &d->ring_record;
	struct sonde_arg arg;
	struct store_text value = { 0 };
	size_t at = 0;
	struct note n;
	if (!emit_name(d, p, ring_record_note(v)->name, is_last_chance, &n.name))
		return EMIT_WAIT;
	if (!ring_record_next_arg(v, &at, &arg, &value))
		return EMIT_DONE;
	char number[32];
	if (arg.type != SONDE_ARG_STR) {
		int len = arg.type == SONDE_ARG_REAL ? snprintf(number, sizeof(number), "%.17g", arg.value.r)
						     : snprintf(number, sizeof(number), "%lld", (long long)arg.value.i);
		value = (struct store_text){ .data = number, .bytes = (size_t)len };
	}
	struct store_meta row = { .process = p->number, .pid = c->pid, .key = n.name, .value = &value };
	d->events++;
	p->events++;
	store_sink_add(d->sink, STORE_TABLE_META, &row);
	return EMIT_DONE;
}

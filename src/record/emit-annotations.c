/* Converts annotations to rows: spans, functions, instants, counters, steps, metadata; see emit.h. */
#include "base/json.h"
#include "record/emit.h"

#include <stdio.h>

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
		EMIT_OF(p, c),
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
		EMIT_OF(p, c),
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
		EMIT_OF(p, c),
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
		EMIT_OF(p, c),
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
		EMIT_OF(p, c),
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
		EMIT_OF(p, c),
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

/* Converts GPU commands to rows; see emit.h. Times and numbers come from the program and may be invalid. */

static const char *const kinds[SONDE_GPU_KINDS] = { [SONDE_GPU_KERNEL] = "kernel",
	[SONDE_GPU_COPY] = "copy",
	[SONDE_GPU_FILL] = "fill",
	[SONDE_GPU_MAP] = "map",
	[SONDE_GPU_UNMAP] = "unmap",
	[SONDE_GPU_WAIT] = "wait" };

static const char *const directions[SONDE_GPU_DIRECTIONS] = { [SONDE_GPU_HOST_TO_DEVICE] = "host-to-device",
	[SONDE_GPU_DEVICE_TO_HOST] = "device-to-host",
	[SONDE_GPU_DEVICE_TO_DEVICE] = "device-to-device",
	[SONDE_GPU_HOST_TO_HOST] = "host-to-host",
	[SONDE_GPU_PEER_TO_PEER] = "peer-to-peer" };

/* STORE_NULL is SONDE_NONE; a time before boot is unknown too. */
static int64_t time_of(int64_t ns)
{
	return ns < 0 ? STORE_NULL : ns > EMIT_NS_MAX ? EMIT_NS_MAX : ns;
}

static int64_t count_of(int64_t value)
{
	return value < 0 ? STORE_NULL : value;
}

static int64_t word_of(struct drain *d, const char *const *words, unsigned count, unsigned i)
{
	return i < count && words[i] ? store_strings_of(&d->sink->strings, words[i]) : STORE_NULL;
}

enum emit_result emit_gpu(struct drain *d, struct drain_process *p, struct drain_chunk *c, bool is_last_chance)
{
	const struct sonde_rec_gpu *r = ring_record_gpu(&d->ring_record);
	struct store_gpu row = store_gpu_nulls;
	if (!emit_name(d, p, r->name, is_last_chance, &row.name) ||
			!emit_name(d, p, r->api, is_last_chance, &row.api) ||
			!emit_name(d, p, r->device, is_last_chance, &row.device))
		return EMIT_WAIT;
	row.ts_ns = time_of(r->start_ns);
	if (row.ts_ns != STORE_NULL && time_of(r->end_ns) >= row.ts_ns)
		row.dur_ns = time_of(r->end_ns) - row.ts_ns;
	row.process = p->number;
	row.pid = c->pid;
	row.tid = r->tid > 0 ? r->tid : STORE_NULL;
	row.kind = word_of(d, kinds, SONDE_GPU_KINDS, r->kind);
	row.direction = word_of(d, directions, SONDE_GPU_DIRECTIONS, r->direction);
	row.device_id = r->device_id;
	row.queue = count_of(r->queue);
	row.bytes = count_of(r->bytes);
	row.items = count_of(r->items);
	row.queued_ns = time_of(r->queued_ns);
	row.submit_ns = time_of(r->submit_ns);
	row.error_ns = count_of(r->error_ns);
	row.status = r->status;
	emit_count(d, p, c, row.ts_ns == STORE_NULL ? p->start_ns : row.ts_ns, 0);
	store_sink_add(d->sink, STORE_TABLE_GPU, &row);
	return EMIT_DONE;
}

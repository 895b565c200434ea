/*
 * annotations: writes annotations to the ring. These functions implement sonde.h's spans, instants, counters, steps
 * and metadata; the tables at the end export them.
 *
 * One record per span, written at its end; an unfinished span is in the thread's frames. A record that does not fit is
 * dropped and counted; the frames stay consistent.
 */
#include "sonde/gpu.h"
#include "sonde/sonde.h"
#include "tracer/frames.h"
#include "tracer/intern.h"
#include "tracer/metrics-board.h"

struct names {
	uint32_t name, category;
};

#define ARG_TEXT_BYTES_MAX 256u
#define META_TEXT_BYTES_MAX 8192u
#define ROOM_BYTES_MAX 8192u /* maximum of arguments in one record */

_Static_assert((unsigned)SONDE_VALUE_INT == SONDE_ARG_INT && (unsigned)SONDE_VALUE_STR == SONDE_ARG_STR,
		"one numbering");
_Static_assert(SONDE_ON_BIT_ == SONDE_CAT_SPAN, "sonde.h tests the category of annotations");

/* Look up the names, define them in the ring, cache them in the site if there is one. The thread has a chunk. */
static struct names names_find(struct sonde_site *site, const char *name, const char *category)
{
	struct names n = { 0 };
	n.name = name || !site ? intern(name, SIZE_MAX) : site->name;
	n.category = category ? intern(category, SIZE_MAX) : site ? site->category : 0;
	intern_use(n.name);
	if (n.category)
		intern_use(n.category);
	if (site) {
		site->name = n.name;
		site->category = n.category;
		site->slot = 0;
		__atomic_store_n(&site->epoch, thread.epoch, __ATOMIC_RELEASE);
	}
	return n;
}

/* The ids of a call site's names; after a fork they are defined again. The thread has a chunk. */
ALWAYS_INLINE struct names names_of(struct sonde_site *site, const char *name, const char *category)
{
	if (likely(site && __atomic_load_n(&site->epoch, __ATOMIC_ACQUIRE) == thread.epoch))
		return (struct names){ site->name, site->category };
	return names_find(site, name, category);
}

/* Spans. */

ALWAYS_INLINE void note_fill(struct sonde_note *note, struct names names, uint64_t ticks)
{
	note->ticks = ticks;
	note->name = names.name;
	note->category = names.category;
	note->epoch = thread.epoch;
}

ALWAYS_INLINE uint64_t what_of(struct names names)
{
	return (uint64_t)names.category << 32 | names.name;
}

static void annotate_span_start(struct sonde_note *note, struct sonde_site *site, const char *name,
		const char *category)
{
	if (unlikely(!tracer_wants(SONDE_CAT_SPAN)))
		return;
	struct names names = names_of(site, name, category);
	uint64_t start = tick();
	note_fill(note, names, start);
	struct origin origin = { .from = (uint32_t)(uintptr_t)note, .site = FRAME_SPAN };
	note->depth = frames_push(start, what_of(names), (uintptr_t)__builtin_dwarf_cfa(), origin);
}

static void annotate_span_start_loose(struct sonde_note *note, struct sonde_site *site)
{
	if (unlikely(!tracer_wants(SONDE_CAT_SPAN)))
		return;
	struct names names = names_of(site, NULL, NULL);
	if (note->arg_count) {
		/* Arguments may have been added before the span starts, even before a fork. */
		for (uint32_t at = 0; at + sizeof(struct sonde_arg) <= note->arg_bytes;) {
			const struct sonde_arg *arg = (const void *)((const char *)(note + 1) + at);
			intern_use(arg->key);
			at += (uint32_t)sizeof(*arg);
			if (arg->type == SONDE_ARG_STR)
				at += ((uint32_t)arg->value.u + 7) & ~7u;
		}
	}
	uint64_t start = tick();
	note_fill(note, names, start);
	note->depth = frames_push(start, what_of(names), 0, (struct origin){ .site = FRAME_LOOSE });
}

_Static_assert(SONDE_NOTE_SHORT_BYTES == offsetof(struct sonde_rec_note, index), "where a short note ends");

ALWAYS_INLINE void put_note(struct sonde_rec_note *r, uint64_t ticks, uint64_t dur, struct names names, uint32_t depth)
{
	r->ticks = ticks;
	r->dur_ticks = dur;
	r->name = names.name;
	r->category = names.category;
	r->depth = depth;
}

ALWAYS_INLINE size_t note_args(struct sonde_note *note)
{
	if (unlikely(note->arg_lost) && note->arg_bytes + sizeof(struct sonde_arg) <= note->arg_bytes_max) {
		/* One more argument, the number of dropped ones: annotate_arg has reserved room for it. */
		struct sonde_arg *arg = (void *)((char *)(note + 1) + note->arg_bytes);
		arg->key = intern("args_lost", 9);
		arg->type = SONDE_ARG_UINT;
		arg->value.u = note->arg_lost;
		intern_use(arg->key);
		note->arg_bytes += (uint32_t)sizeof(*arg);
		note->arg_count++;
		note->arg_lost = 0; /* a span may be started again */
	}
	return note->arg_bytes;
}

/*
 * A first touch of a page costs as much as forty spans, and a cache line zeroed by another CPU a good part of one: a
 * typical span is written in 24 bytes.
 */
ALWAYS_INLINE void put_brief(const struct sonde_note *note, uint64_t dur)
{
	struct sonde_rec_brief *r = ring_reserve(sizeof(*r));
	frames_end(note->ticks, what_of((struct names){ note->name, note->category }), note->depth);
	if (unlikely(!r))
		return;
	r->ticks = note->ticks;
	r->dur_ticks = (uint32_t)dur;
	r->category = note->category;
	ring_commit(&r->head, sizeof(*r), SONDE_REC_BRIEF, (uint16_t)note->name, (uint16_t)note->depth);
}

static void annotate_span_end(struct sonde_note *note)
{
	struct names names = { note->name, note->category };
	if (unlikely(!(tracer.categories & SONDE_CAT_SPAN)))
		return; /* switched off meanwhile, perhaps because reading the clock is forbidden now */
	uint64_t end = tick();
	if (unlikely(thread.epoch != tracer.alive->epoch) && !ring_attach()) {
		if (note->epoch == tracer.alive->epoch)
			frames_end(note->ticks, what_of(names), note->depth);
		return;
	}
	if (unlikely(note->epoch != thread.epoch))
		return; /* started before a fork: it belongs to the parent */
	uint64_t dur = end - note->ticks;
	size_t args = note_args(note), bytes = args ? sizeof(struct sonde_rec_note) + args : SONDE_NOTE_SHORT_BYTES;
	if (likely(!args && !(dur >> 32) && !((note->name | note->depth) >> 16))) {
		put_brief(note, dur);
		return;
	}
	struct sonde_rec_note *r = ring_reserve(bytes);
	frames_end(note->ticks, what_of(names), note->depth);
	if (unlikely(!r))
		return;
	put_note(r, note->ticks, dur, names, note->depth == FRAMES_NONE ? thread.depth : note->depth);
	if (unlikely(args)) {
		r->index = 0;
		r->value = 0;
		memcpy(r + 1, note + 1, args);
	}
	ring_commit(&r->head, bytes, SONDE_REC_SPAN, note->arg_count, 0);
}

/* Arguments. */

static struct sonde_arg *arg_new(struct sonde_note *note, size_t text_bytes)
{
	size_t bytes = sizeof(struct sonde_arg) + ((text_bytes + 7) & ~(size_t)7);
	if (note->arg_bytes + bytes + sizeof(struct sonde_arg) > note->arg_bytes_max)
		return NULL;
	struct sonde_arg *arg = (void *)((char *)(note + 1) + note->arg_bytes);
	note->arg_bytes += (uint32_t)bytes;
	note->arg_count++;
	return arg;
}

static struct sonde_arg *arg_new_text(struct sonde_note *note, const char *text, uint64_t bytes)
{
	const size_t heads = 2 * sizeof(struct sonde_arg);
	size_t used = note->arg_bytes + heads, room = used < note->arg_bytes_max ? note->arg_bytes_max - used : 0;
	if (!text)
		text = "(null)", bytes = 6;
	if (room > ARG_TEXT_BYTES_MAX)
		room = ARG_TEXT_BYTES_MAX;
	if (bytes == UINT64_MAX)
		bytes = strnlen(text, room + 1);
	if (bytes > room && room <= CUT_MARK_BYTES)
		return NULL;
	struct sonde_arg *arg = arg_new(note, bytes < room ? bytes : room);
	if (arg)
		arg->value.u = cut_copy((char *)(arg + 1), text, bytes, room);
	return arg;
}

static void annotate_arg(struct sonde_note *note, struct sonde_site *site, const char *key, uint32_t type,
		uint64_t bits, const char *text)
{
	struct sonde_arg *arg = NULL;
	if (tracer_wants(SONDE_CAT_SPAN) && note->arg_bytes_max <= ROOM_BYTES_MAX)
		arg = type == SONDE_ARG_STR ? arg_new_text(note, text, bits) : arg_new(note, 0);
	if (!arg) {
		note->arg_lost += note->arg_lost < UINT16_MAX;
		return;
	}
	arg->key = names_of(site, key, NULL).name;
	arg->type = type;
	if (type != SONDE_ARG_STR)
		arg->value.u = bits;
}

/* Instants and values. */

static void record(uint8_t kind, uint64_t ticks, struct names names, int64_t index, double value,
		struct sonde_note *note)
{
	size_t args = note ? note_args(note) : 0, bytes = sizeof(struct sonde_rec_note) + args;
	struct sonde_rec_note *r = ring_reserve(bytes);
	if (!r)
		return;
	put_note(r, ticks, 0, names, thread.depth);
	r->index = index;
	r->value = value;
	if (args)
		memcpy(r + 1, note + 1, args);
	ring_commit(&r->head, bytes, kind, note ? note->arg_count : 0, 0);
}

static void annotate_instant_start(struct sonde_note *note, struct sonde_site *site, const char *name,
		const char *category)
{
	if (!tracer_wants(SONDE_CAT_SPAN))
		return;
	note_fill(note, names_of(site, name, category), tick());
}

static void annotate_instant_end(struct sonde_note *note)
{
	if (tracer_wants(SONDE_CAT_SPAN) && note->epoch == thread.epoch)
		record(SONDE_REC_INSTANT, note->ticks, (struct names){ note->name, note->category }, 0, 0, note);
}

static void annotate_counter(struct sonde_site *site, const char *name, double value)
{
	if (!tracer_wants(SONDE_CAT_SPAN))
		return;
	struct names names = names_of(site, name, NULL);
	if (__builtin_isfinite(value))
		record(SONDE_REC_COUNTER, tick(), names, 0, value, NULL);
	else
		ring_count_filtered();
}

static void annotate_step(struct sonde_site *site, const char *name, int64_t index, double value)
{
	uint64_t now = tick();
	if (tracer_wants(SONDE_CAT_SPAN))
		record(SONDE_REC_STEP, now, names_of(site, name, NULL), index, value, NULL);
	board_step(site, name, now, index, value);
}

static void annotate_meta(struct sonde_site *site, const char *key, const char *text, size_t bytes)
{
	if (!tracer_wants(SONDE_CAT_SPAN))
		return;
	struct names names = names_of(site, key, NULL);
	if (!text)
		text = "(null)", bytes = 6;
	if (bytes == SIZE_MAX)
		bytes = strnlen(text, META_TEXT_BYTES_MAX + 1);
	size_t kept = bytes < META_TEXT_BYTES_MAX ? bytes : META_TEXT_BYTES_MAX;
	size_t size = sizeof(struct sonde_rec_note) + sizeof(struct sonde_arg) + ((kept + 7) & ~(size_t)7);
	struct sonde_rec_note *r = ring_reserve(size);
	if (!r)
		return;
	struct sonde_arg *arg = (void *)(r + 1);
	put_note(r, tick(), 0, names, thread.depth);
	r->index = 0;
	r->value = 0;
	arg->key = names.name;
	arg->type = SONDE_ARG_STR;
	arg->value.u = cut_copy((char *)(arg + 1), text, bytes, META_TEXT_BYTES_MAX);
	ring_commit(&r->head, size, SONDE_REC_META, 1, 0);
}

/* GPU commands; see sonde/gpu.h. */

static uint32_t name_of(const char *text)
{
	uint32_t id = text ? intern(text, SIZE_MAX) : 0;
	if (id)
		intern_use(id);
	return id;
}

static void command(const struct sonde_gpu_command *c)
{
	if (!tracer_wants(SONDE_CAT_GPU))
		return;
	int kept_errno = errno;
	uint32_t name = name_of(c->name), api = name_of(c->api), device = name_of(c->device);
	struct sonde_rec_gpu *r = ring_reserve(sizeof(*r));
	if (r) {
		r->ticks = tick();
		r->queued_ns = c->queued_ns;
		r->submit_ns = c->submit_ns;
		r->start_ns = c->start_ns;
		r->end_ns = c->end_ns;
		r->error_ns = c->error_ns;
		r->bytes = c->bytes;
		r->items = c->items;
		r->queue = c->queue;
		r->name = name;
		r->api = api;
		r->device = device;
		r->device_id = c->device_id;
		r->tid = c->tid;
		r->status = c->status;
		r->kind = (uint8_t)c->kind;
		r->direction = (uint8_t)c->direction;
		ring_commit(&r->head, sizeof(*r), SONDE_REC_GPU, 0, 0);
	}
	errno = kept_errno;
}

static void drop(void)
{
	if (tracer_wants(SONDE_CAT_GPU))
		ring_drop();
}

EXPORT extern const struct sonde_gpu_api sonde_gpu_api;
EXPORT const struct sonde_gpu_api sonde_gpu_api = {
	.version = SONDE_GPU_API_VERSION,
	.bytes = sizeof(struct sonde_gpu_api),
	.categories = &tracer.categories,
	.command = command,
	.drop = drop,
};

/* The functions of libsonde that sonde.h finds by name. */

EXPORT const struct sonde_api sonde_api = {
	.version = SONDE_API_VERSION,
	.bytes = sizeof(struct sonde_api),
	.categories = &tracer.categories,
	.start = tracer_init,
	.intern = intern,
	.span_begin = annotate_span_start,
	.span_begin_loose = annotate_span_start_loose,
	.span_end = annotate_span_end,
	.instant_begin = annotate_instant_start,
	.instant_end = annotate_instant_end,
	.arg = annotate_arg,
	.counter = annotate_counter,
	.step = annotate_step,
	.meta = annotate_meta,
	.metric = board_metric,
	.knob = board_knob,
};

#include "probe/python/walk.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "probe/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERPRETERS_MAX 64
#define THREADS_MAX 8192
#define OWNERS_OF_CODE 3 /* thread, generator, frame object; the others are frames without code */
#define TAG_BITS 7ull
#define LOOK_AGAIN 64 /* samples after which a thread without a state is searched again */

struct python_thread {
	uint64_t state;     /* address of its PyThreadState; 0: none */
	uint64_t native_id; /* its tid in the innermost PID namespace */
	unsigned age;
};

/* Processes. */

static void forget(struct python_process *p)
{
	for (size_t i = 0; i < p->threads.count; i++)
		free((void *)(uintptr_t)map_value(&p->threads, i));
	map_release(&p->threads);
	python_codes_release(&p->codes);
}

void python_process_free(struct python_process *p)
{
	if (!p)
		return;
	forget(p);
	free(p);
}

static bool find_image(struct python_process *p, const struct space *space)
{
	for (size_t i = 0; i < space_count(space); i++) {
		const struct mapping *m = space_at(space, i);
		const struct python_image *image = python_image_of(m->module);
		if (image) {
			p->image = image;
			p->bias = m->start - (m->offset + image->code_delta);
			return true;
		}
	}
	return false;
}

void python_process_look(struct python_process *p, const struct space *space, struct memory *memory,
		struct sonde_err *err)
{
	uint64_t version = space_version(space), old_bias = p->bias;
	const struct python_image *old = p->state == PYTHON_READY ? p->image : NULL;
	if (p->state != PYTHON_UNSEEN && p->space_version == version)
		return;
	p->space_version = version;
	if (!find_image(p, space)) {
		p->state = PYTHON_NONE;
		return;
	}
	if (old == p->image && old_bias == p->bias)
		return; /* only another library was mapped */
	forget(p);
	memory_begin(memory, p->pid);
	p->state = python_layout_of(&p->layout, p->image, p->bias, memory, err) ? PYTHON_REFUSED : PYTHON_READY;
}

/* Threads. */

/* Interpreters identify their threads by the innermost tid. */
static uint64_t native_id(pid_t pid, int32_t tid)
{
	int32_t inner = task_inner_tid(pid, tid);
	return (uint64_t)(inner ? inner : tid);
}

static bool is_state_of(const struct python_process *p, uint64_t state, uint64_t id, struct memory *memory)
{
	uint64_t found;
	return state && memory_get_u64(memory, state + p->layout.thread_native_id, &found) && found == id;
}

/* Searches all interpreters. After a fork the only thread may still have the old tid in its state: accept it. */
static uint64_t find_state(const struct python_process *p, uint64_t id, bool is_first, struct memory *memory)
{
	const struct python_layout *l = &p->layout;
	uint64_t interpreter, state, only = 0;
	unsigned interpreters = 0, threads = 0;
	if (!memory_get_u64(memory, p->bias + p->image->runtime + l->runtime_interpreters, &interpreter))
		return 0;
	for (; interpreter && interpreters < INTERPRETERS_MAX; interpreters++) {
		if (!memory_get_u64(memory, interpreter + l->interpreter_threads, &state))
			return 0;
		for (; state && threads < THREADS_MAX; threads++) {
			if (is_state_of(p, state, id, memory))
				return state;
			only = state;
			if (!memory_get_u64(memory, state + l->thread_next, &state))
				return 0;
		}
		if (!memory_get_u64(memory, interpreter + l->interpreter_next, &interpreter))
			return 0;
	}
	return threads == 1 && is_first ? only : 0;
}

static struct python_thread *thread_of(struct python_process *p, int32_t tid)
{
	uint64_t *at = map_put_int(&p->threads, (uint64_t)tid, NULL);
	if (!at)
		return NULL;
	if (!*at) {
		struct python_thread *t = calloc(1, sizeof(*t));
		if (t)
			t->native_id = native_id(p->pid, tid);
		*at = (uint64_t)(uintptr_t)t;
	}
	return (struct python_thread *)(uintptr_t)*at;
}

static uint64_t state_of(struct python_process *p, int32_t tid, struct memory *memory)
{
	struct python_thread *t = thread_of(p, tid);
	if (!t)
		return 0;
	if (is_state_of(p, t->state, t->native_id, memory))
		return t->state;
	if (!t->state && t->age++ % LOOK_AGAIN && t->age > 4)
		return 0; /* a thread of a native library */
	t->state = find_state(p, t->native_id, tid == p->pid, memory);
	return t->state;
}

/* Frames. */

static struct python_frame *add_frame(struct python_stack *s)
{
	if (s->count == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct python_frame *more = realloc(s->frames, cap * sizeof(*more));
		if (!more)
			return NULL;
		s->frames = more;
		s->cap = cap;
	}
	return &s->frames[s->count++];
}

void python_stack_release(struct python_stack *s)
{
	free(s->frames);
	*s = (struct python_stack){ 0 };
}

static uint64_t u64_at(const uint8_t *bytes, uint32_t at)
{
	uint64_t v;
	memcpy(&v, bytes + at, sizeof(v));
	return v;
}

static int take_frame(struct python_process *p, const uint8_t *bytes, struct memory *memory, struct python_stack *out)
{
	const struct python_layout *l = &p->layout;
	if (bytes[l->frame_owner] >= OWNERS_OF_CODE) {
		if (out->count)
			out->frames[out->count - 1].is_entry = true;
		return 0;
	}
	uint64_t address = u64_at(bytes, l->frame_code) & ~TAG_BITS;
	struct python_code *code = python_code_at(&p->codes, l, p->bias + p->image->code_type, address, memory);
	struct python_frame *f = code ? add_frame(out) : NULL;
	if (!f)
		return code ? -ENOMEM : -EAGAIN;
	uint64_t instruction = u64_at(bytes, l->frame_instruction) - (address + l->code_instructions);
	/* The instruction pointer of a frame that has not started is one before its first instruction. */
	uint32_t line = python_code_line(code, (int64_t)instruction < 0 ? 0 : instruction);
	*f = (struct python_frame){ .module = code->module,
		.address = code->base + line,
		.is_entry = l->has_entries && bytes[l->frame_is_entry] };
	return 0;
}

static int walk(struct python_process *p, uint64_t frame, struct memory *memory, struct python_stack *out)
{
	uint8_t bytes[1024];
	out->count = 0;
	out->is_cut = false;
	for (size_t n = 0; frame; n++) {
		if (n == PYTHON_FRAMES_MAX) {
			out->is_cut = true;
			break;
		}
		if (!memory_get(memory, frame, bytes, p->layout.frame_bytes))
			return -EAGAIN;
		int rc = take_frame(p, bytes, memory, out);
		if (rc)
			return rc;
		frame = u64_at(bytes, p->layout.frame_previous);
	}
	if (out->count && !out->is_cut)
		out->frames[out->count - 1].is_entry = true;
	return 0;
}

int python_walk(struct python_process *p, int32_t tid, struct memory *memory, struct python_stack *out)
{
	int rc = -EAGAIN;
	for (unsigned attempt = 0; attempt < 2 && rc == -EAGAIN; attempt++) {
		uint64_t frame;
		memory_begin(memory, p->pid);
		uint64_t state = state_of(p, tid, memory);
		if (!state)
			return memory->error ? -memory->error : -ESRCH;
		if (!memory_get_u64(memory, state + p->layout.thread_frame, &frame) ||
				(p->layout.has_cframe && frame &&
						!memory_get_u64(memory, frame + p->layout.cframe_frame, &frame)))
			return -memory->error;
		rc = walk(p, frame, memory, out);
	}
	return rc;
}

#include "probe/python/walk.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "probe/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CODES_MAX (1u << 18)
#define TEXT_CHARS_MAX 1024
#define TABLE_BYTES_MAX ((uint64_t)1 << 20)
#define INSTRUCTION_BYTES 2
#define TRUSTED_NS 20000000 /* how long an object is assumed unchanged: freed memory is soon reused */
#define INTERPRETERS_MAX 64
#define THREADS_MAX 8192
#define OWNERS_OF_CODE 3 /* thread, generator, frame object; the others are frames without code */
#define TAG_BITS 7ull
#define LOOK_AGAIN 64 /* samples after which a thread without a state is searched again */

/*
 * Code objects.
 *
 * The line table is that of PEP 657 (Objects/locations.md in CPython's sources): each entry is a byte with the length
 * in instructions and a kind, then the line delta in that kind's encoding.
 */

void python_functions_release(struct python_functions *f)
{
	map_release(&f->numbers);
}

static void add_utf8(struct buf *out, uint32_t c)
{
	if (c < 0x80) {
		buf_addc(out, (char)c);
	} else if (c < 0x800) {
		buf_addc(out, (char)(0xc0 | c >> 6));
		buf_addc(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_addc(out, (char)(0xe0 | c >> 12));
		buf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_addc(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x110000) {
		buf_addc(out, (char)(0xf0 | c >> 18));
		buf_addc(out, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_addc(out, (char)(0x80 | (c & 0x3f)));
	}
}

/* Reads a string object as UTF-8; truncates a long one. */
static bool get_text(const struct python_layout *l, uint64_t address, struct memory *memory, struct buf *out)
{
	uint8_t bytes[TEXT_CHARS_MAX * 4];
	uint64_t count;
	uint32_t state;
	if (!memory_get(memory, address + l->unicode_length, &count, sizeof(count)) ||
			!memory_get(memory, address + l->unicode_state, &state, sizeof(state)))
		return false;
	state >>= l->unicode_kind;
	unsigned size = state & 7, is_compact = state >> 3 & 1, is_ascii = state >> 4 & 1;
	if (!is_compact || (size != 1 && size != 2 && size != 4) || count > INT32_MAX)
		return false;
	count = count < TEXT_CHARS_MAX ? count : TEXT_CHARS_MAX;
	if (!memory_get_fresh(memory, address + (is_ascii ? l->unicode_ascii_bytes : l->unicode_compact_bytes), bytes,
			    (size_t)count * size))
		return count == 0;
	for (uint64_t i = 0; i < count; i++) {
		uint32_t c = 0;
		memcpy(&c, bytes + i * size, size); /* little-endian, as everything read here */
		add_utf8(out, c ? c : '?');
	}
	return !buf_error(out);
}

/* Returns the address range of a function, assigned when it is first seen. */
static bool find_function(struct python_functions *f, struct python_code *code, const struct buf *file,
		const struct buf *name)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	bool is_new = false;
	buf_addf(&key, "%s%c%s%c%d", file->data, '\0', name->data, '\0', (int)code->first_line);
	struct module *module = modules_python(f->modules, file->len ? file->data : "?");
	uint64_t *number = module && !buf_error(&key) ? map_put(&f->numbers, key.data, key.len, &is_new) : NULL;
	if (!number)
		return false;
	if (is_new)
		*number = f->numbers.count;
	code->module = module;
	code->base = *number * PYTHON_LINES;
	if (!is_new)
		return true;
	const char *slash = strrchr(file->data, '/');
	buf_reset(&key);
	buf_addf(&key, "%s (%s:%d)", name->data, slash ? slash + 1 : file->data, (int)code->first_line);
	struct store_symbol row = { .module = module->number,
		.start = (int64_t)code->base,
		.bytes = PYTHON_LINES,
		.name = store_strings_id(&f->modules->sink->strings, key.data, key.len) };
	store_sink_add(f->modules->sink, STORE_TABLE_SYMBOL, &row);
	return true;
}

static bool fill(struct python_codes *c, struct python_code *code, const struct python_layout *l, struct memory *memory)
{
	CLEANUP(buf_release) struct buf file = BUF_INIT;
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	free(code->table);
	code->table = NULL;
	code->table_bytes = 0;
	code->module = NULL;
	code->last_instruction = UINT64_MAX;
	if (!get_text(l, code->filename, memory, &file) || !get_text(l, code->qualname, memory, &name))
		return false;
	/* The line table: without it the function still has a name. */
	uint64_t count;
	if (memory_get(memory, code->linetable + l->bytes_count, &count, sizeof(count)) && count <= TABLE_BYTES_MAX) {
		code->table = malloc((size_t)count + 1);
		if (code->table &&
				memory_get_fresh(memory, code->linetable + l->bytes_data, code->table, (size_t)count))
			code->table_bytes = (size_t)count;
	}
	return find_function(c->functions, code, &file, &name);
}

static uint64_t u64_at(const uint8_t *bytes, uint32_t at)
{
	uint64_t v;
	memcpy(&v, bytes + at, sizeof(v));
	return v;
}

/* Returns the code object at an address; NULL if it is not one. Valid as long as c. */
static struct python_code *python_code_at(struct python_codes *c, const struct python_layout *l, uint64_t type,
		uint64_t address, struct memory *memory)
{
	uint8_t bytes[1024];
	int32_t first_line;
	const uint64_t *known = map_get_int(&c->by_address, address);
	struct python_code *code = known ? (struct python_code *)(uintptr_t)*known : NULL;
	if (code && code->module && memory->now_ns - code->checked_ns < TRUSTED_NS)
		return code;
	if (l->code_bytes > sizeof(bytes) || !memory_get(memory, address, bytes, l->code_bytes) ||
			u64_at(bytes, l->object_type) != type || c->by_address.count >= CODES_MAX)
		return NULL;
	uint64_t *at = map_put_int(&c->by_address, address, NULL);
	if (at && !*at)
		*at = (uint64_t)(uintptr_t)calloc(1, sizeof(struct python_code));
	code = at ? (struct python_code *)(uintptr_t)*at : NULL;
	if (!code)
		return NULL;
	code->checked_ns = memory->now_ns;
	memcpy(&first_line, bytes + l->code_firstline, sizeof(first_line));
	uint64_t filename = u64_at(bytes, l->code_filename), qualname = u64_at(bytes, l->code_qualname);
	uint64_t linetable = u64_at(bytes, l->code_linetable);
	if (code->module && code->filename == filename && code->qualname == qualname && code->linetable == linetable &&
			code->first_line == first_line)
		return code;
	code->filename = filename;
	code->qualname = qualname;
	code->linetable = linetable;
	code->first_line = first_line;
	return fill(c, code, l, memory) ? code : NULL;
}

struct table {
	const uint8_t *at, *end;
};

static uint8_t next_byte(struct table *t)
{
	return t->at < t->end ? *t->at++ : 0;
}

static int32_t next_signed(struct table *t)
{
	/* Six bits per byte, lowest first; bit 6: more bytes follow. */
	uint32_t v = 0;
	for (unsigned shift = 0; shift < 30; shift += 6) {
		uint8_t b = next_byte(t);
		v |= (uint32_t)(b & 63) << shift;
		if (!(b & 64))
			break;
	}
	return v & 1 ? -(int32_t)(v >> 1) : (int32_t)(v >> 1);
}

enum { KIND_ONE_LINE_0 = 10, KIND_ONE_LINE_2 = 12, KIND_NO_COLUMNS = 13, KIND_LONG = 14, KIND_NONE = 15 };

/* Returns the line delta of an entry of this kind and skips the rest of the entry. */
static int32_t entry_change(struct table *t, unsigned kind)
{
	int32_t change = 0;
	if (kind == KIND_LONG || kind == KIND_NO_COLUMNS)
		change = next_signed(t);
	else if (kind >= KIND_ONE_LINE_0 && kind <= KIND_ONE_LINE_2)
		change = (int32_t)kind - KIND_ONE_LINE_0;
	while (t->at < t->end && !(*t->at & 0x80)) /* only the first byte of an entry has the top bit */
		t->at++;
	return change;
}

/* Returns the line of an instruction, given by its byte offset from the first; 0 if it has none. */
static uint32_t python_code_line(struct python_code *c, uint64_t instruction)
{
	struct table t = { c->table, c->table + c->table_bytes };
	int64_t line = c->first_line, found = 0;
	uint64_t address = 0;
	if (c->last_instruction == instruction)
		return c->last_line;
	while (t.at < t.end) {
		uint8_t head = next_byte(&t);
		unsigned kind = head >> 3 & 15;
		line += entry_change(&t, kind);
		address += ((uint64_t)(head & 7) + 1) * INSTRUCTION_BYTES;
		if (instruction < address) {
			found = kind == KIND_NONE ? 0 : line;
			break;
		}
	}
	c->last_instruction = instruction;
	c->last_line = found > 0 && found < PYTHON_LINES ? (uint32_t)found : 0;
	return c->last_line;
}

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
	for (size_t i = 0; i < p->codes.by_address.count; i++) {
		struct python_code *code = (struct python_code *)(uintptr_t)map_value(&p->codes.by_address, i);
		if (code)
			free(code->table);
		free(code);
	}
	map_release(&p->codes.by_address);
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

void python_process_inspect(struct python_process *p, const struct space *space, struct memory *memory,
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
	memory_start(memory, p->pid);
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
	if (!VEC_GROW(s->frames, s->cap, s->count + 1, PYTHON_FRAMES_MAX))
		return NULL;
	return &s->frames[s->count++];
}

void python_stack_release(struct python_stack *s)
{
	free(s->frames);
	*s = (struct python_stack){ 0 };
}

static int read_frame(struct python_process *p, const uint8_t *bytes, struct memory *memory, struct python_stack *out)
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
		int rc = read_frame(p, bytes, memory, out);
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
		memory_start(memory, p->pid);
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

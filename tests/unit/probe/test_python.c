/* Python frames of versions that say their own offsets, read out of fakes in this very process. */
#include "sinks.h"

#include "probe/python/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 32

/* Where a version has its groups of offsets, written down here once more: as in its pycore_debug_offsets.h. */
struct version {
	uint64_t hex;
	unsigned thread, frame, code, object, bytes, unicode;
	unsigned kind; /* bit of the state of strings */
};
static const struct version v3_13 = { 0x030d00f0, 19, 28, 34, 44, 64, 67, 2 };
static const struct version v3_14 = { 0x030e00f0, 22, 31, 39, 50, 74, 77, 16 };

struct text {
	uint64_t refs, type;
	int64_t length, hash;
	uint32_t state, pad;
	char data[TEXT_MAX + 16];
};

struct lines {
	uint64_t refs, type;
	int64_t count, hash;
	uint8_t data[16];
};

struct code {
	uint64_t refs, type, size;
	int32_t first_line, pad;
	struct text *file, *name;
	struct lines *lines;
	uint16_t instructions[8];
};

struct frame {
	uint64_t code; /* with tag bits */
	struct frame *previous;
	uint64_t further[3];
	const uint16_t *instruction;
	char pad[6], owner, more;
};

struct thread {
	struct thread *prev, *next;
	struct frame *frame;
	uint64_t id, native_id;
};

struct interpreter {
	uint64_t id;
	struct interpreter *next;
	struct thread *threads;
};

struct fake {
	uint64_t words[128]; /* _PyRuntime */
	struct interpreter *interpreters;
	uint64_t version;
	uint64_t code_type;
	struct interpreter interpreter;
	struct thread thread;
	struct text file, plain, wide;
	struct lines lines;
	struct code first, second;
	struct frame frames[4];
	struct python_image image;
};

static void set_text(struct text *t, const struct version *v, const char *text, bool is_ascii)
{
	*t = (struct text){ .length = (int64_t)strlen(text) };
	t->state = (1u | 1u << 3 | (uint32_t)is_ascii << 4) << v->kind;
	memcpy(t->data + (is_ascii ? 0 : 16), text, strlen(text));
}

static void set_words(struct fake *f, const struct version *v)
{
	memcpy(f->words, "xdebugpy", 8);
	f->words[1] = v->hex;
	f->words[5] = offsetof(struct fake, interpreters);
	f->words[8] = offsetof(struct interpreter, next);
	f->words[9] = offsetof(struct interpreter, threads);
	f->words[v->thread + 2] = offsetof(struct thread, next);
	f->words[v->thread + 4] = offsetof(struct thread, frame);
	f->words[v->thread + 6] = offsetof(struct thread, native_id);
	f->words[v->frame] = sizeof(struct frame);
	f->words[v->frame + 1] = offsetof(struct frame, previous);
	f->words[v->frame + 2] = offsetof(struct frame, code);
	f->words[v->frame + 3] = offsetof(struct frame, instruction);
	f->words[v->frame + 5] = offsetof(struct frame, owner);
	f->words[v->code] = sizeof(struct code);
	f->words[v->code + 1] = offsetof(struct code, file);
	f->words[v->code + 3] = offsetof(struct code, name);
	f->words[v->code + 4] = offsetof(struct code, lines);
	f->words[v->code + 5] = offsetof(struct code, first_line);
	f->words[v->code + 9] = offsetof(struct code, instructions);
	f->words[v->object + 1] = 8;
	f->words[v->bytes + 1] = offsetof(struct lines, count);
	f->words[v->bytes + 2] = offsetof(struct lines, data);
	f->words[v->unicode + 1] = offsetof(struct text, state);
	f->words[v->unicode + 2] = offsetof(struct text, length);
	f->words[v->unicode + 3] = offsetof(struct text, data);
}

/* plain() called by Größe(), which the C library called, called by plain(). */
static void make(struct fake *f, const struct version *v)
{
	memset(f, 0, sizeof(*f));
	set_words(f, v);
	set_text(&f->file, v, "/x/file.py", true);
	set_text(&f->plain, v, "plain", true);
	set_text(&f->wide, v,
			"Gr\xf6\xdf"
			"e",
			false);
	f->lines = (struct lines){ .count = 2, .data = { 0x80 | 13 << 3 | 7, 4 } }; /* 8 instructions, 2 lines on */
	f->first = (struct code){ .type = (uint64_t)(uintptr_t)&f->code_type,
		.first_line = 10,
		.file = &f->file,
		.name = &f->plain,
		.lines = &f->lines };
	f->second = f->first;
	f->second.name = &f->wide;
	f->second.first_line = 20;
	f->frames[0] = (struct frame){ (uint64_t)(uintptr_t)&f->first | 1, &f->frames[1],
		.instruction = f->first.instructions + 1 };
	f->frames[1] = (struct frame){ (uint64_t)(uintptr_t)&f->second, &f->frames[2],
		.instruction = f->second.instructions + 2, .owner = 1 };
	f->frames[2] = (struct frame){ 0, &f->frames[3], .owner = 3 };
	f->frames[3] = (struct frame){ (uint64_t)(uintptr_t)&f->first, NULL, .instruction = f->first.instructions + 3 };
	f->thread = (struct thread){ .frame = &f->frames[0], .native_id = (uint64_t)getpid() };
	f->interpreter.threads = &f->thread;
	f->interpreters = &f->interpreter;
	f->version = v->hex;
	f->image = (struct python_image){ .runtime = (uint64_t)(uintptr_t)f->words,
		.version = (uint64_t)(uintptr_t)&f->version,
		.code_type = (uint64_t)(uintptr_t)&f->code_type };
}

static struct fake fake;
static struct memory memory;

static void frames_of(const struct version *v)
{
	struct made_sink sink;
	struct modules modules;
	struct python_stack stack = { 0 };
	struct store_symbol symbols[4];
	sink_make(&sink);
	modules_init(&modules, &sink.sink);
	struct python_functions functions = { .modules = &modules };
	struct python_process *p = calloc(1, sizeof(*p));
	assert_non_null(p);
	*p = (struct python_process){ .pid = getpid(),
		.state = PYTHON_READY,
		.image = &fake.image,
		.codes = { &functions } };
	make(&fake, v);
	memory_start(&memory, getpid());
	assert_int_equal(python_layout_of(&p->layout, &fake.image, 0, &memory, NULL), 0);
	assert_int_equal(python_walk(p, getpid(), &memory, &stack), 0);
	assert_int_equal(stack.count, 3);
	assert_int_equal(stack.frames[0].address % PYTHON_LINES, 12);
	assert_int_equal(stack.frames[1].address % PYTHON_LINES, 22);
	assert_int_equal(stack.frames[0].address, stack.frames[2].address);
	assert_false(stack.frames[0].is_entry);
	assert_true(stack.frames[1].is_entry);
	assert_true(stack.frames[2].is_entry);
	size_t known = store_strings_count(&sink.sink.strings);
	store_strings_of(&sink.sink.strings, "plain (file.py:10)");
	store_strings_of(&sink.sink.strings, "Größe (file.py:20)");
	assert_int_equal(store_strings_count(&sink.sink.strings), known); /* both were there */
	python_stack_release(&stack);
	python_process_free(p);
	python_functions_release(&functions);
	modules_release(&modules);
	assert_int_equal(sink_rows(&sink, STORE_TABLE_SYMBOL, symbols, 4), 2);
	sink_remove(&sink);
}

static void version_3_13(void **state)
{
	frames_of(&v3_13);
}

static void version_3_14(void **state)
{
	frames_of(&v3_14);
}

static void refused(const char *why)
{
	struct python_layout l;
	struct sonde_err err = SONDE_ERR_INIT;
	memory_start(&memory, getpid());
	assert_int_equal(python_layout_of(&l, &fake.image, 0, &memory, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, why));
}

static void what_is_refused_and_why(void **state)
{
	make(&fake, &v3_14);
	fake.words[2] = 1;
	refused("without the global lock");
	make(&fake, &v3_13);
	fake.words[1] = fake.version = v3_14.hex; /* a table of another form than the version's */
	refused("offsets are invalid");
	make(&fake, &v3_14);
	fake.words[v3_14.frame] = UINT32_MAX;
	refused("offsets are invalid");
	make(&fake, &v3_14);
	fake.words[0] = 0;
	refused("offsets are not where");
	fake.version = 0x030f00f0;
	refused("CPython 3.15: Python frames are read of 3.11, 3.13 and 3.14");
	fake.version = 0x030e00b1;
	refused("CPython 3.14 before its release");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(version_3_13), cmocka_unit_test(version_3_14),
		cmocka_unit_test(what_is_refused_and_why) };
	return RUN_TESTS(tests);
}

/* Our own stack, unwound from a copy, against what the C library's unwinder says. */
#include "sinks.h"

#include "probe/perf/unwind.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* gcc has a macro for it, clang 14 a question. */
#ifdef __has_feature
#define HAS_ASAN __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#else
#define HAS_ASAN 0
#endif

#define STACK_BYTES 16384
#define FRAMES 128

static struct unwind_result got;
static void *want[FRAMES];
static int want_count;
static struct modules modules;
static struct space *space;
static uintptr_t stack_end; /* a small environment leaves little above main */

static void find_stack_end(void)
{
	pthread_attr_t attr;
	void *start;
	size_t bytes;
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &start, &bytes);
	stack_end = (uintptr_t)start + bytes;
	pthread_attr_destroy(&attr);
}

#ifdef __x86_64__
/* As the kernel copies them: registers, and memory from the stack pointer on. */
__attribute__((noinline)) static void look(size_t bytes)
{
	uint64_t regs[CFI_REGS] = { 0 };
	static uint8_t copy[STACK_BYTES];
	__asm__ volatile("mov %%rbx, %0; mov %%rbp, %1; mov %%rsp, %2; mov %%r12, %3; mov %%r13, %4; mov %%r14, %5; "
			 "mov %%r15, %6"
			 : "=m"(regs[3]), "=m"(regs[CFI_RBP]), "=m"(regs[CFI_RSP]), "=m"(regs[12]), "=m"(regs[13]),
			 "=m"(regs[14]), "=m"(regs[15]));
	__asm__ volatile("lea (%%rip), %0" : "=r"(regs[CFI_RA]));
	bytes = regs[CFI_RSP] + bytes > stack_end ? stack_end - regs[CFI_RSP] : bytes;
	memcpy(copy, (const void *)(uintptr_t)regs[CFI_RSP], bytes);
	struct cfi_memory memory = { .start = regs[CFI_RSP], .bytes = copy, .len = bytes };
	unwind_user(space, regs, &memory, &got);
	want_count = backtrace(want, FRAMES);
}

/* Frames of different shapes: small, large, with a size known only at run time, recursive. */
__attribute__((noinline)) static void recurse(int depth, size_t bytes)
{
	volatile char room[64];
	room[0] = (char)depth;
	if (depth)
		recurse(depth - 1, bytes);
	else
		look(bytes);
	room[1] = room[0];
}

__attribute__((noinline)) static void spacious(size_t n, size_t bytes)
{
	volatile char *room = __builtin_alloca(n);
	room[n - 1] = 1;
	recurse(10, bytes);
	room[0] = room[n - 1];
}

static int compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	static int is_done;
	if (!is_done++)
		spacious(100, STACK_BYTES);
	return 0;
}

/* Frame i of backtrace is the return address into it; its first one is look itself. */
static void assert_same(int frames)
{
	assert_true(want_count >= frames);
	assert_true(got.count >= (size_t)frames);
	for (int i = 1; i < frames; i++) {
		struct frame f = unwind_frame(space, (uint64_t)(uintptr_t)want[i], true);
		assert_ptr_equal(got.frames[i].module, f.module);
		assert_int_equal(got.frames[i].address, f.address);
	}
}

__attribute__((unused)) static void frames_of_every_shape(void **state)
{
	spacious(1000, STACK_BYTES);
	assert_same(want_count - 2); /* where _start ends the two may differ */
	assert_true(want_count > 13);
}

__attribute__((unused)) static void through_the_c_library(void **state)
{
	int values[] = { 2, 1 };
	qsort(values, 2, sizeof(*values), compare);
	assert_same(want_count - 2);
}

__attribute__((unused)) static void a_stack_that_was_copied_in_part_is_cut(void **state)
{
	recurse(10, 512);
	assert_true(got.is_cut);
	assert_same((int)got.count);
	assert_true(got.count >= 3 && got.count < 12);
	recurse(0, 0);
	assert_true(got.is_cut);
	assert_int_equal(got.count, 1);
}

static void nonsense_ends(void **state)
{
	random_init();
	for (int i = 0; i < 20000; i++) {
		uint64_t regs[CFI_REGS];
		uint8_t bytes[256];
		random_bytes(regs, sizeof(regs));
		random_bytes(bytes, sizeof(bytes));
		regs[CFI_RA] = (uint64_t)(uintptr_t)&qsort + random_below(100000); /* somewhere with rules */
		if (random_below(2))
			regs[CFI_RSP] = 4096 + random_below(256);
		struct cfi_memory memory = { .start = 4096, .bytes = bytes, .len = random_below(sizeof(bytes)) };
		unwind_user(space, regs, &memory, &got);
		assert_true(got.count >= 1 && got.count <= UNWIND_FRAMES_MAX);
	}
}
#endif

int main(void)
{
	struct made_sink sink;
	find_stack_end();
	sink_make(&sink);
	modules_init(&modules, &sink.sink);
	space = space_read(&modules, getpid());
#ifdef __x86_64__
	const struct CMUnitTest tests[] = {
#if !HAS_ASAN /* which forbids to copy a stack, and puts frames of its own on it */
		cmocka_unit_test(frames_of_every_shape),
		cmocka_unit_test(through_the_c_library),
		cmocka_unit_test(a_stack_that_was_copied_in_part_is_cut),
#endif
		cmocka_unit_test(nonsense_ends),
	};
	int failed = RUN_TESTS(tests);
#else
	int failed = 77; /* frame pointers only, and the kernel follows those */
#endif
	space_drop(space);
	modules_release(&modules);
	store_sink_close(&sink.sink, NULL);
	sink_remove(&sink);
	return failed;
}


#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "probe/perf/perf-private.h"
#include "probe/perf/stack-table.h"
#include "probe/perf/unwind.h"
#include "probe/tasks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define STEP 4        /* ratio of adjacent sizes */
#define BYTES_MIN 512 /* smaller ones are not cheaper */
#define MANY_HZ 500   /* samples per second: below that the copies do not matter */
#define TRIAL 128     /* samples before a smaller size is first tried */
#define TRIAL_MAX (1u << 20)
#define PAGE 4096
#define PAGES 5
#define STACK_BYTES ((size_t)(PAGES - 1) * PAGE)

/* How much of a stack is copied. */

/* Enough for deep stacks, less at very high sampling frequencies. */
static uint32_t largest(unsigned freq_hz)
{
	return freq_hz <= MANY_HZ ? 32768 : freq_hz <= 2000 ? 16384 : freq_hz <= 8000 ? 4096 : 2048;
}

void depth_init(struct depth *d, unsigned freq_hz, bool is_fixed)
{
	*d = (struct depth){ .bytes = { largest(freq_hz) }, .count = 1, .trial = TRIAL };
	if (is_fixed || freq_hz <= MANY_HZ)
		return;
	for (; d->count < DEPTH_SIZES_MAX && d->bytes[d->count - 1] / STEP >= BYTES_MIN; d->count++)
		d->bytes[d->count] = d->bytes[d->count - 1] / STEP;
}

static bool is_on(const struct depth *d, size_t room)
{
	return room <= d->bytes[d->on] && (d->on + 1 == d->count || room > d->bytes[d->on + 1]);
}

static void begin(struct depth *d, unsigned on)
{
	d->on = on;
	d->seen = 0;
	d->deepest = 0;
}

bool depth_add(struct depth *d, size_t room, uint64_t needed, bool is_short)
{
	if (d->count < 2 || !is_on(d, room))
		return false;
	if (is_short && d->on) {
		d->trial = d->trial < TRIAL_MAX ? d->trial * STEP : TRIAL_MAX;
		begin(d, 0);
		return true;
	}
	needed = is_short ? UINT64_MAX : needed;
	d->deepest = needed > d->deepest ? needed : d->deepest;
	if (++d->seen < d->trial)
		return false;
	unsigned before = d->on, fits = before;
	while (fits + 1 < d->count && d->deepest <= d->bytes[fits + 1])
		fits++;
	begin(d, fits);
	return fits != before;
}

/* Stacks of samples. */

static int64_t add_frames(struct perf_source *source, const struct perf_sample *s, const struct frame *frames,
		size_t count, bool is_cut)
{
	int64_t stack = STORE_NULL;
	if (source->wants.add_frames)
		return source->wants.add_frames(source->wants.python, s->record, frames, count, is_cut, stack);
	for (size_t i = count; i-- > 0;)
		stack = stacks_add(&source->stacks, stack, frames[i].module, frames[i].address);
	return stack;
}

static int64_t add_user_frames(struct perf_source *source, const struct space *space, const struct perf_sample *s,
		bool *is_cut)
{
	uint64_t regs[CFI_REGS];
	for (unsigned i = 0; i < PERF_USER_REGS; i++)
		regs[perf_user_regs_dwarf[i]] = s->regs[i];
	struct cfi_memory memory = { .start = regs[CFI_RSP], .bytes = s->stack, .len = s->stack_bytes };
	struct unwind_result found;
	unwind_user(space, regs, &memory, &found);
	*is_cut = found.is_cut;
	bool is_short = found.is_cut && s->stack_bytes == s->stack_room;
	if (depth_add(&source->private->depth, s->stack_room, found.needed_bytes, is_short))
		source->private->has_new_depth = true;
	return add_frames(source, s, found.frames, found.count, found.is_cut);
}

/* Finds the part of the kernel's chain that belongs to `context`: [*from, *to). */
static void find_part(const struct perf_sample *s, uint64_t context, size_t *from, size_t *to)
{
	bool is_in = false;
	*from = *to = 0;
	for (size_t i = 0; i < s->chain_count; i++) {
		if (s->chain[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			is_in = s->chain[i] == context;
			if (is_in)
				*from = *to = i + 1;
		} else if (is_in) {
			*to = i + 1;
		}
	}
}

/* With frame pointers it is unknown whether the outermost frame was reached. */
static int64_t add_chain(struct perf_source *source, const struct space *space, const struct perf_sample *s)
{
	struct frame frames[UNWIND_FRAMES_MAX];
	size_t from, to, count = 0;
	find_part(s, (uint64_t)PERF_CONTEXT_USER, &from, &to);
	for (size_t i = from; i < to && count < UNWIND_FRAMES_MAX; i++)
		frames[count++] = unwind_frame(space, s->chain[i], i > from);
	return add_frames(source, s, frames, count, true);
}

int64_t chain_of(struct perf_source *source, const struct perf_sample *s, bool is_kernel, bool *is_cut)
{
	struct task *process = tasks_process(source->host->tasks, s->record->pid);
	const struct space *space = process ? perf_source_space(source, process) : NULL;
	int64_t stack = STORE_NULL;
	if (s->has_regs && s->stack_bytes)
		stack = add_user_frames(source, space, s, is_cut);
	else
		stack = add_chain(source, space, s);
	if (is_kernel) {
		size_t from, to;
		const struct module *kernel = modules_kernel(&source->modules);
		find_part(s, (uint64_t)PERF_CONTEXT_KERNEL, &from, &to);
		for (size_t i = to; i-- > from;)
			stack = stacks_add(&source->stacks, stack, kernel, s->chain[i] - (i > from));
	}
	if (stack == STORE_NULL && s->ip) {
		struct frame f = is_kernel ? (struct frame){ modules_kernel(&source->modules), s->ip }
					   : unwind_frame(space, s->ip, false);
		stack = stacks_add(&source->stacks, stack, f.module, f.address);
	}
	return stack;
}

/* Stacks of blocked threads. */

struct place {
	uint64_t sp, pc;
};

/* "202 0x7f.. 0x80 .. SP PC", or "running". */
static bool read_place(const struct task *k, struct place *at)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", k->pid, k->tid);
	if (fs_read_file(AT_FDCWD, path, 4096, &text, NULL))
		return false;
	char *pc = strrchr(text.data, ' ');
	if (!pc)
		return false;
	*pc++ = '\0';
	const char *sp = strrchr(text.data, ' ');
	*at = (struct place){ .sp = sp ? strtoull(sp, NULL, 16) : 0, .pc = strtoull(pc, NULL, 16) };
	return at->sp && at->pc;
}

/* One page per iovec: an unmapped page behind the end of the stack does not fail the pages before it. */
static size_t read_stack(int32_t pid, uint64_t from, uint8_t *out)
{
	struct iovec here = { out, STACK_BYTES }, there[PAGES];
	size_t count = 0;
	for (uint64_t at = from, end = from + STACK_BYTES; at < end; count++) {
		uint64_t n = PAGE - at % PAGE;
		n = n < end - at ? n : end - at;
		there[count] = (struct iovec){ (void *)(uintptr_t)at, n };
		at += n;
	}
	ssize_t got = process_vm_readv(pid, &here, 1, there, count, 0);
	return got > 0 ? (size_t)got : 0;
}

int64_t wait_sample(struct perf_source *source, const struct task *k)
{
	struct task *process = tasks_process(source->host->tasks, k->pid);
	const struct space *space = process ? perf_source_space(source, process) : NULL;
	uint8_t copy[STACK_BYTES];
	struct place at, then;
	if (!UNWIND_IS_HERE || !space || !read_place(k, &at))
		return STORE_NULL;
	struct cfi_memory memory = { .start = at.sp, .bytes = copy, .len = read_stack(k->pid, at.sp, copy) };
	if (!memory.len || !read_place(k, &then) || then.sp != at.sp || then.pc != at.pc)
		return STORE_NULL;
	uint64_t regs[CFI_REGS] = { [CFI_RSP] = at.sp, [CFI_RA] = at.pc }; /* the others cannot be read */
	struct unwind_result found;
	unwind_user(space, regs, &memory, &found);
	int64_t stack = STORE_NULL;
	for (size_t i = found.count; i-- > 0;)
		stack = stacks_add(&source->stacks, stack, found.frames[i].module, found.frames[i].address);
	return stack;
}

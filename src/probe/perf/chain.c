#include "probe/perf/chain.h"

#include "probe/perf/perf-private.h"
#include "probe/perf/stack-table.h"
#include "probe/perf/unwind.h"
#include "probe/tasks.h"

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
	if (depth_note(&source->private->depth, s->stack_room, found.needed_bytes, is_short))
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

static int64_t add_kernel_frames(struct perf_source *source, const struct perf_sample *s, int64_t stack)
{
	size_t from, to;
	const struct module *kernel = modules_kernel(&source->modules);
	find_part(s, (uint64_t)PERF_CONTEXT_KERNEL, &from, &to);
	for (size_t i = to; i-- > from;)
		stack = stacks_add(&source->stacks, stack, kernel, s->chain[i] - (i > from));
	return stack;
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
	if (is_kernel)
		stack = add_kernel_frames(source, s, stack);
	if (stack == STORE_NULL && s->ip) {
		struct frame f = is_kernel ? (struct frame){ modules_kernel(&source->modules), s->ip }
					   : unwind_frame(space, s->ip, false);
		stack = stacks_add(&source->stacks, stack, f.module, f.address);
	}
	return stack;
}

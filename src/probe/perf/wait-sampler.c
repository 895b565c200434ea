#include "probe/perf/wait-sampler.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "probe/perf/unwind.h"
#include "probe/tasks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define PAGE 4096
#define PAGES 5
#define STACK_BYTES ((size_t)(PAGES - 1) * PAGE)

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

int64_t wait_look(struct perf_source *source, const struct task *k)
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

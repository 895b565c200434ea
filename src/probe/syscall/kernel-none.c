/* Stubs of bpf-calls.h for a build without the feature bpf: calls are recorded with perf events or ptrace stops. */
#include "probe/syscall/bpf-calls.h"

#include <errno.h>

const bool kernel_calls_are_built = false;

int kernel_calls_open(struct kernel_calls *k)
{
	k->seen = -1;
	return -ENOSYS;
}

void kernel_calls_release(struct kernel_calls *k)
{
	(void)k;
}

uint64_t kernel_calls_end(const struct kernel_calls *k)
{
	(void)k;
	return 0;
}

bool kernel_calls_peek(struct kernel_calls *k, uint64_t end, struct syscall_event *e)
{
	(void)k, (void)end, (void)e;
	return false;
}

void kernel_calls_next(struct kernel_calls *k)
{
	(void)k;
}

uint64_t kernel_calls_lost(const struct kernel_calls *k)
{
	(void)k;
	return 0;
}

int kernel_calls_want(int seen, int32_t pid, bool is_wanted)
{
	(void)seen, (void)pid, (void)is_wanted;
	return -ENOSYS;
}

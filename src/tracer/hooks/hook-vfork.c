/*
 * Children in their parent's memory.
 *
 * A vfork child also runs on its parent's stack, so no frame of ours may be between the two returns. The return
 * address is stored in the thread instead, keyed by its stack address, because children may vfork in turn.
 */
#include "tracer/exec.h"
#include "tracer/hook.h"

#include <sched.h>

#define VFORKS_MAX 4 /* nesting depth */

static _Thread_local struct {
	unsigned count;
	struct vfork_entry {
		uintptr_t slot; /* stack address of the return address */
		uintptr_t to;
		uint64_t start;
		int32_t pid_before;
		uint16_t call;
	} entry[VFORKS_MAX];
} vforks __attribute__((tls_model("initial-exec")));

/* Two words, returned in registers. */
struct two {
	uintptr_t first, second;
};

/* The real vfork, and whether to call it through our stub. */
__attribute__((used, visibility("hidden"))) struct two vfork_before(uintptr_t slot, uintptr_t to, unsigned call)
{
	struct two answer = { (uintptr_t)next_function(call), 0 };
	__atomic_fetch_add(&tracer.share_epoch, 1, __ATOMIC_RELAXED);
	if (!tracer_wants(SONDE_CAT_ALL) || vforks.count == VFORKS_MAX)
		return answer;
	vforks.entry[vforks.count++] = (struct vfork_entry){ .slot = slot,
		.to = to,
		.start = tick(),
		.pid_before = thread.vfork_pid,
		.call = (uint16_t)call };
	answer.second = 1;
	return answer;
}

/* From here on records belong to the child. */
static void on_fork_child(void)
{
	int32_t pid = tracer.is_seccomped ? -1 : (int32_t)sys0(SYS_getpid);
	thread.vfork_pid = pid;
	fds_child_forget();
	ring_who(pid, pid);
}

/* The child has executed a program or exited; the thread is the parent again. */
static void child_ended(int32_t pid_before)
{
	thread.vfork_pid = pid_before;
	fds_child_forget();
	exec_vfork_ended();
	ring_who(pid_before ? pid_before : tracer.pid, pid_before ? pid_before : thread.tid);
}

/* Parent and child both return here. Returns the result and the return address. */
__attribute__((used, visibility("hidden"))) struct two vfork_after(int result, uintptr_t slot)
{
	unsigned i = vforks.count;
	while (i > 1 && vforks.entry[i - 1].slot != slot)
		i--;
	struct vfork_entry e = vforks.entry[i - 1];
	if (result == 0) {
		on_fork_child();
	} else {
		vforks.count = i - 1;
		if (result > 0)
			child_ended(e.pid_before);
		call_done(e.call, e.start, result, ERROR_I(result), CALL());
	}
	return (struct two){ (uintptr_t)(intptr_t)result, e.to };
}

#define VFORK(name) \
	__asm__(".pushsection .text\n" \
		".globl " #name "\n" \
		".type " #name ", @function\n" #name ":\n" \
		"	movq %rsp, %rdi\n" \
		"	movq (%rsp), %rsi\n" \
		"	movl number_of_" #name "(%rip), %edx\n" \
		"	jmp vfork_common\n" \
		".size " #name ", . - " #name "\n" \
		".popsection\n"); \
	__attribute__((used, visibility("hidden"))) const unsigned number_of_##name = CALL_##name;

VFORK(vfork)
VFORK(__vfork)

__asm__(".pushsection .text\n"
	".type vfork_common, @function\n"
	"vfork_common:\n"
	"	.cfi_startproc\n"
	"	subq $8, %rsp\n"
	"	call vfork_before\n"
	"	addq $8, %rsp\n"
	"	testq %rdx, %rdx\n"
	"	jne 1f\n"
	"	jmp *%rax\n"
	"1:	addq $8, %rsp\n" /* the real function's return address replaces ours */
	"	call *%rax\n"
	"	movl %eax, %edi\n"
	"	subq $8, %rsp\n"
	"	movq %rsp, %rsi\n"
	"	subq $8, %rsp\n"
	"	call vfork_after\n"
	"	addq $8, %rsp\n"
	"	movq %rdx, (%rsp)\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size vfork_common, . - vfork_common\n"
	".popsection\n");

/* clone: a child that shares our memory while we wait for it is equivalent to a vfork child. */

struct clone_start {
	int (*fn)(void *);
	void *arg;
};

static int clone_child(void *at)
{
	struct clone_start *start = at;
	on_fork_child();
	return start->fn(start->arg);
}

static int clone_do(uint16_t id, int (*fn)(void *), void *stack, int flags, void *arg, va_list ap)
{
	int (*next)(int (*)(void *), void *, int, void *, ...) = next_function(id);
	pid_t *parent_tid = va_arg(ap, pid_t *);
	void *tls = va_arg(ap, void *);
	pid_t *child_tid = va_arg(ap, pid_t *);
	struct clone_start begin = { .fn = fn, .arg = arg };
	int32_t pid_before = thread.vfork_pid;
	bool is_wanted = tracer_wants(SONDE_CAT_ALL);
	bool is_vfork = is_wanted && fn && (flags & CLONE_VM) && (flags & CLONE_VFORK) && !(flags & CLONE_SETTLS);
	if (!(flags & CLONE_THREAD))
		__atomic_fetch_add(&tracer.share_epoch, 1, __ATOMIC_RELAXED);
	uint64_t now = tick();
	int result = next(is_vfork ? clone_child : fn, stack, flags, is_vfork ? &begin : arg, parent_tid, tls,
			child_tid);
	if (is_vfork && result > 0)
		child_ended(pid_before);
	if (is_wanted)
		call_done(id, now, result, ERROR_I(result), CALL(ARGS1(flags)));
	return result;
}

#define CLONE(name) \
	EXPORT int name(int (*fn)(void *), void *stack, int flags, void *arg, ...) \
	{ \
		va_list ap; \
		va_start(ap, arg); \
		int result = clone_do(CALL_##name, fn, stack, flags, arg, ap); \
		va_end(ap); \
		return result; \
	}
CLONE(clone)
CLONE(__clone)

/*
 * syscall(): it may be used for clone and vfork, so it must not add a stack frame between the program and libc, and
 * the call is not recorded. Only calls that change the descriptor table or install a seccomp filter are inspected.
 */
#include "calls/syscalls.h"
#include "tracer/exec.h"
#include "tracer/hook.h"

#include <linux/seccomp.h>

#define WATCHED_MAX 512

/* Of each number that syscall_before inspects: its effect, an enum syscall_effect; 0 of the others. */
#undef SYSCALL
#undef SYSNAME
#define SYSCALL(kernel_name, name, letters, effect) \
	[SYS_##kernel_name] = SYSCALL_##effect >= SYSCALL_INSPECTED ? SYSCALL_##effect : SYSCALL_NOTHING,
#define SYSNAME SYSCALL
__attribute__((used, visibility("hidden"))) const uint8_t syscall_effects[WATCHED_MAX] = {
#include "calls/calls-each.h"
};

/* libc's syscall, once resolved. */
__attribute__((used, visibility("hidden"))) void *syscall_next;

/* Queries, of which libseccomp makes many, have no effect. Strict mode disables the time stamp counter, too. */
static void notice_seccomp(long operation, long flags, const void *filter)
{
	bool is_strict = operation == SECCOMP_SET_MODE_STRICT && !flags && !filter;
	if (!is_strict && !(operation == SECCOMP_SET_MODE_FILTER && filter))
		return;
	exec_is_filtered = true;
	ring_before_seccomp();
	if (is_strict)
		tracer_stop();
}

static void notice(unsigned effect, int a, int b)
{
	switch (effect) {
	case SYSCALL_CLOSES:
		fds_closed(a);
		break;
	case SYSCALL_DUPS_TO:
		fds_share(a);
		fds_closed(b);
		break;
	case SYSCALL_CLOSES_RANGE:
		fds_closed_range((unsigned)a, (unsigned)b);
		break;
	case SYSCALL_COPIES:
	case SYSCALL_FORKS:
		__atomic_fetch_add(&tracer.share_epoch, 1, __ATOMIC_RELAXED); /* more than one descriptor, or all */
		break;
	case SYSCALL_CHDIRS:
		tracer.cwd = 0; /* about to change */
		break;
	case SYSCALL_EXITS:
		tracer_on_exit();
		break;
	case SYSCALL_MOVES:
	case SYSCALL_MAY_MOVE:
	case SYSCALL_SEEKS:
	case SYSCALL_DUPS:
	case SYSCALL_SHARES:
	case SYSCALL_CONTROLS:
		fds_share(a);
		break;
	default:
		break;
	}
}

__attribute__((used, visibility("hidden"))) void syscall_before(long number, long a, long b, long c)
{
	int kept_errno = errno;
	if (!syscall_next)
		syscall_next = next_function(CALL_syscall);
	unsigned effect = number >= 0 && number < WATCHED_MAX ? syscall_effects[number] : 0;
	if (effect == SYSCALL_FILTERS)
		notice_seccomp(a, b, (const void *)c);
	else if (effect && tracer_wants(SONDE_CAT_ALL))
		notice(effect, (int)a, (int)b);
	errno = kept_errno;
}

__asm__(".pushsection .text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	cmpq $512, %rdi\n" /* WATCHED_MAX */
	"	jae 1f\n"
	"	leaq syscall_effects(%rip), %r11\n"
	"	cmpb $0, (%r11, %rdi)\n"
	"	jne 2f\n"
	"1:	movq syscall_next(%rip), %rax\n"
	"	testq %rax, %rax\n"
	"	je 2f\n"
	"	jmp *%rax\n"
	"2:	pushq %rdi\n"
	"	pushq %rsi\n"
	"	pushq %rdx\n"
	"	pushq %rcx\n"
	"	pushq %r8\n"
	"	pushq %r9\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 56\n"
	"	call syscall_before\n"
	"	addq $8, %rsp\n"
	"	popq %r9\n"
	"	popq %r8\n"
	"	popq %rcx\n"
	"	popq %rdx\n"
	"	popq %rsi\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -56\n"
	"	jmp *syscall_next(%rip)\n"
	"	.cfi_endproc\n"
	".size syscall, . - syscall\n"
	".popsection\n");
_Static_assert(WATCHED_MAX == 512, "the number in the stub");

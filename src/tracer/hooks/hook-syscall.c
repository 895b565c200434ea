/*
 * syscall(): it may be used for clone and vfork, so it must not add a stack frame between the program and libc, and
 * the call is not recorded. Only calls that change the descriptor table or install a seccomp filter are inspected.
 */
#include "tracer/exec.h"
#include "tracer/hook.h"

#include <linux/seccomp.h>

#define WATCHED_MAX 512
#define BIT(number) ((uint64_t)1 << ((number) % 64))

/* One bit for each number that syscall_before inspects. */
__attribute__((used, visibility("hidden"))) const uint64_t syscall_watched[WATCHED_MAX / 64] = {
	[SYS_read / 64] = BIT(SYS_read) | BIT(SYS_write) | BIT(SYS_close) | BIT(SYS_lseek) | BIT(SYS_readv) |
			BIT(SYS_writev) | BIT(SYS_dup) | BIT(SYS_dup2) | BIT(SYS_sendfile) | BIT(SYS_clone) |
			BIT(SYS_fork) | BIT(SYS_vfork),
	[SYS_fcntl / 64] = BIT(SYS_fcntl) | BIT(SYS_chdir) | BIT(SYS_fchdir),
	[SYS_splice / 64] = BIT(SYS_splice) | BIT(SYS_dup3) | BIT(SYS_seccomp),
	[SYS_copy_file_range / 64] = BIT(SYS_copy_file_range) | BIT(SYS_preadv2) | BIT(SYS_pwritev2),
	[SYS_exit_group / 64] = BIT(SYS_exit_group),
	[SYS_clone3 / 64] = BIT(SYS_clone3) | BIT(SYS_close_range),
};
_Static_assert(SYS_vfork / 64 == SYS_read / 64 && SYS_fchdir / 64 == SYS_fcntl / 64 &&
				SYS_seccomp / 64 == SYS_splice / 64 && SYS_dup3 / 64 == SYS_splice / 64 &&
				SYS_pwritev2 / 64 == SYS_copy_file_range / 64 &&
				SYS_close_range / 64 == SYS_clone3 / 64,
		"each number lies in the word that its bit is in");

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

static void notice(long number, int a, int b)
{
	switch (number) {
	case SYS_close:
		fds_closed(a);
		break;
	case SYS_dup2:
	case SYS_dup3:
		fds_share(a);
		fds_closed(b);
		break;
	case SYS_close_range:
		fds_closed_range((unsigned)a, (unsigned)b);
		break;
	case SYS_sendfile:
	case SYS_splice:
	case SYS_copy_file_range:
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
		__atomic_fetch_add(&tracer.share_epoch, 1, __ATOMIC_RELAXED); /* more than one descriptor, or all */
		break;
	case SYS_exit_group:
		tracer_ends();
		break;
	case SYS_chdir:
	case SYS_fchdir:
		tracer.cwd = 0; /* about to change */
		break;
	default:
		fds_share(a);
		break;
	}
}

__attribute__((used, visibility("hidden"))) void syscall_before(long number, long a, long b, long c)
{
	int kept_errno = errno;
	if (!syscall_next)
		syscall_next = next_function(CALL_syscall);
	bool is_watched = number >= 0 && number < WATCHED_MAX && (syscall_watched[number / 64] & BIT(number));
	if (number == SYS_seccomp)
		notice_seccomp(a, b, (const void *)c);
	else if (is_watched && tracer_wants(SONDE_CAT_ALL))
		notice(number, (int)a, (int)b);
	errno = kept_errno;
}

__asm__(".pushsection .text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	cmpq $512, %rdi\n" /* WATCHED_MAX */
	"	jae 1f\n"
	"	btq %rdi, syscall_watched(%rip)\n"
	"	jc 2f\n"
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

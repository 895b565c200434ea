/*
 * raw-syscall: direct system calls of the tracer.
 *
 * They bypass libc, so they neither enter a hook nor change the program's errno. Each returns the kernel's result: a
 * value, or a negative errno.
 */
#ifndef SONDE_TRACER_RAW_SYSCALL_H
#define SONDE_TRACER_RAW_SYSCALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if !defined(__x86_64__)
#error "libsonde is written for x86-64: another architecture needs its system call and tail-call stubs here"
#endif

static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#define sys0(n) sys6(n, 0, 0, 0, 0, 0, 0)
#define sys1(n, a) sys6(n, (long)(a), 0, 0, 0, 0, 0)
#define sys2(n, a, b) sys6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define sys3(n, a, b, c) sys6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define sys4(n, a, b, c, d) sys6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static inline int sys_failed(long ret)
{
	return (unsigned long)ret > -4096ul;
}

static inline int sys_open(const char *path, int flags, int mode)
{
	return (int)sys4(SYS_openat, -100, path, flags, mode);
}

static inline void sys_close(int fd)
{
	sys1(SYS_close, fd);
}

/* NULL on failure. */
static inline void *sys_map(size_t bytes, int prot, int flags, int fd)
{
	long p = sys6(SYS_mmap, 0, (long)bytes, prot, flags, fd, 0);
	return sys_failed(p) ? NULL : (void *)p;
}

#endif

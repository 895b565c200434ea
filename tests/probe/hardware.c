/*
 * Preloaded into the recorder: a machine with the hardware counters, and a user with the rights, that
 * PERF_HARDWARE names. `cycles`: there are some, and they tick twice as often as one asks for; `closed`:
 * there are, but not for this user; `none`: no perf events at all. Else as the machine is.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long raw(long number, const long *a)
{
	long rc;
	register long r10 __asm__("r10") = a[3];
	register long r8 __asm__("r8") = a[4];
	register long r9 __asm__("r9") = a[5];
	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	if (rc < 0 && rc > -4096) {
		errno = (int)-rc;
		return -1;
	}
	return rc;
}

static int refuse(int error)
{
	errno = error;
	return -1;
}

static long open_event(long *a)
{
	const char *how = getenv("PERF_HARDWARE");
	struct perf_event_attr attr = *(const struct perf_event_attr *)a[0];
	int is_cycles = attr.type == PERF_TYPE_HARDWARE && attr.config == PERF_COUNT_HW_CPU_CYCLES;
	if (!strcmp(how, "none"))
		return refuse(EACCES);
	if (!strcmp(how, "closed") && is_cycles && !attr.exclude_kernel)
		return refuse(EACCES);
	if (is_cycles) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.sample_freq *= 2;
		a[0] = (long)&attr;
	}
	return raw(SYS_perf_event_open, a);
}

__attribute__((visibility("default"))) long syscall(long number, ...)
{
	va_list ap;
	long a[6];
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return number == SYS_perf_event_open && getenv("PERF_HARDWARE") ? open_event(a) : raw(number, a);
}

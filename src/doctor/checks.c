/*
 * checks: the table of checks, and the functions that checks share.
 */
#include "doctor/checks.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct doctor_check doctor_checks[] = {
	{ "platform", "Linux 5.4 on x86-64 with glibc", true, check_platform },
	{ "libsonde", "traces files and annotations inside the program", true, check_libsonde },
	{ "shared memory", "holds the events until they are written", true, check_shared_memory },
	{ "constant TSC", "stamps events in 9 ns instead of 16", false, check_tsc },
	{ "open files", "recording many processes at once", false, check_open_files },
	{ "perf, user", "samples where the program spends its time", false, check_perf_user },
	{ "perf, kernel", "samples the kernel on the program's behalf", false, check_perf_kernel },
	{ "perf, hardware", "cycles, instructions, cache misses", false, check_perf_hardware },
	{ "tracefs", "names and numbers the kernel's tracepoints", false, check_tracefs },
	{ "tracepoints", "scheduler, block device and network events; calls of static programs", false,
			check_tracepoints },
	{ "BPF", "counts and filters inside the kernel", false, check_bpf },
	{ "kernel lockdown", "may forbid tracing that reads kernel memory", false, check_lockdown },
	{ "ptrace", "reads interpreters, sees calls of static programs (--syscalls)", false, check_ptrace },
	{ "PSI", "how long tasks waited for CPU, memory and I/O", false, check_psi },
	{ "delay accounting", "splits a task's waiting by cause", false, check_delays },
	{ "cgroups", "limits and accounts a whole process tree", false, check_cgroups },
	{ "sandbox", "runs a program over a private copy of the file system", false, check_sandbox },
	{ "packets", "counts what connections carry, by process (--net)", false, check_packets },
	{ "containers", "runs programs in images", false, check_containers },
	{ "Python", "frames and annotations of Python programs", false, check_python },
	{ "energy", "joules that the CPUs used", false, check_energy },
	{ "GPU", "kernels, copies and utilisation", false, check_gpu },
	{ NULL },
};

const char *const doctor_state_names[] = {
	[DOCTOR_WORKS] = "works",
	[DOCTOR_PARTLY] = "partly",
	[DOCTOR_NO] = "no",
	[DOCTOR_NONE] = "none",
};

void doctor_report(struct doctor_result *r, enum doctor_state state, const char *fmt, ...)
{
	va_list ap;

	r->state = state;
	va_start(ap, fmt);
	vsnprintf(r->why, sizeof(r->why), fmt, ap);
	va_end(ap);
}

void doctor_fix(struct doctor_result *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->fix, sizeof(r->fix), fmt, ap);
	va_end(ap);
}

bool doctor_number(const char *path, long *value)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *end;

	if (fs_read_file(AT_FDCWD, path, 64, &text, NULL))
		return false;
	*value = strtol(text.data, &end, 10);
	return end != text.data;
}

bool doctor_has_capability(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

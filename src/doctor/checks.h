/*
 * checks: what sonde can use on this machine, one row per check.
 *
 * A check tries the feature itself where that is possible (opens the event, loads the program, mounts in a temporary
 * namespace) and reads settings only to explain a failure. It changes nothing, does not block and takes a few
 * milliseconds at most. A new check is one function and one row.
 */
#ifndef SONDE_DOCTOR_CHECKS_H
#define SONDE_DOCTOR_CHECKS_H

#include <stdbool.h>

enum doctor_state {
	DOCTOR_WORKS,
	DOCTOR_PARTLY,
	DOCTOR_NO,
	DOCTOR_NONE, /* not available here, and cannot be enabled */
};

struct doctor_result {
	enum doctor_state state;
	char why[256];          /* what was found; on failure the reason */
	char fix[256];          /* command line that would enable it; "" if none */
	const char *setup_step; /* step of `sonde setup` that does the same; NULL: none */
};

struct doctor_check {
	const char *name;
	const char *purpose; /* what sonde uses it for */
	bool is_needed;      /* required by record */
	void (*check)(struct doctor_result *report);
};

extern const struct doctor_check doctor_checks[]; /* ends with name NULL */
extern const char *const doctor_state_names[];

/* Sets the state and the printf-style explanation of a check. */
void doctor_report(struct doctor_result *r, enum doctor_state state, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
void doctor_fix(struct doctor_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Reads the number in a /proc or /sys file; false if the file is missing or holds no number. */
bool doctor_number(const char *path, long *value);
bool doctor_has_capability(int capability);

/*
 * X(id, name, purpose, is_needed): its function is check_<id>, in check-install.c (the installation, memory, programs
 * and devices), check-kernel.c (what the kernel lets us observe) or check-process.c (what it reports about processes
 * and lets us do with them).
 */
#define DOCTOR_CHECKS(X) \
	X(platform, "platform", "Linux 5.4 on x86-64 with glibc", true) \
	X(libsonde, "libsonde", "traces files and annotations inside the program", true) \
	X(shared_memory, "shared memory", "holds the events until they are written", true) \
	X(tsc, "constant TSC", "stamps events in 9 ns instead of 16", false) \
	X(open_files, "open files", "recording many processes at once", false) \
	X(perf_user, "perf, user", "samples where the program spends its time", false) \
	X(perf_kernel, "perf, kernel", "samples the kernel on the program's behalf", false) \
	X(perf_hardware, "perf, hardware", "cycles, instructions, cache misses", false) \
	X(tracefs, "tracefs", "names and numbers the kernel's tracepoints", false) \
	X(tracepoints, "tracepoints", "scheduler, block device and network events; calls of static programs", false) \
	X(bpf, "BPF", "counts and filters inside the kernel", false) \
	X(lockdown, "kernel lockdown", "may forbid tracing that reads kernel memory", false) \
	X(ptrace, "ptrace", "reads interpreters, sees calls of static programs (--syscalls)", false) \
	X(psi, "PSI", "how long tasks waited for CPU, memory and I/O", false) \
	X(delays, "delay accounting", "splits a task's waiting by cause", false) \
	X(cgroups, "cgroups", "limits and accounts a whole process tree", false) \
	X(sandbox, "sandbox", "runs a program over a private copy of the file system", false) \
	X(packets, "packets", "counts what connections carry, by process (--net)", false) \
	X(containers, "containers", "runs programs in images", false) \
	X(python, "Python", "frames and annotations of Python programs", false) \
	X(energy, "energy", "joules that the CPUs used", false) \
	X(gpu, "GPU", "kernels, copies and utilisation", false)

#define DOCTOR_DECLARE(id, ...) void check_##id(struct doctor_result *r);
DOCTOR_CHECKS(DOCTOR_DECLARE)

#endif

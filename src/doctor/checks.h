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

/* check-install.c: the installation, memory, programs and devices */
void check_platform(struct doctor_result *r);
void check_libsonde(struct doctor_result *r);
void check_shared_memory(struct doctor_result *r);
void check_tsc(struct doctor_result *r);
void check_open_files(struct doctor_result *r);
void check_python(struct doctor_result *r);
void check_containers(struct doctor_result *r);
void check_gpu(struct doctor_result *r);
void check_energy(struct doctor_result *r);
/* check-kernel.c: what the kernel lets us observe */
void check_perf_user(struct doctor_result *r);
void check_perf_kernel(struct doctor_result *r);
void check_perf_hardware(struct doctor_result *r);
void check_tracefs(struct doctor_result *r);
void check_tracepoints(struct doctor_result *r);
void check_bpf(struct doctor_result *r);
void check_lockdown(struct doctor_result *r);
void check_packets(struct doctor_result *r);
/* check-process.c: what the kernel reports about processes and lets us do with them */
void check_ptrace(struct doctor_result *r);
void check_psi(struct doctor_result *r);
void check_delays(struct doctor_result *r);
void check_cgroups(struct doctor_result *r);
void check_sandbox(struct doctor_result *r);

#endif

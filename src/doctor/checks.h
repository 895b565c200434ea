/*
 * facilities: what sonde can use of this machine, one row each.
 *
 * A check tries the thing itself where that is possible (open the event, load
 * the program, mount in a namespace that dies with it) and reads settings only to
 * explain a failure. It changes nothing, waits for nothing and needs no more
 * than a few milliseconds. A new facility is one check and one row.
 */
#ifndef SONDE_DOCTOR_CHECKS_H
#define SONDE_DOCTOR_CHECKS_H

#include <stdbool.h>

enum doctor_state {
	DOCTOR_WORKS,
	DOCTOR_PARTLY,
	DOCTOR_NO,
	DOCTOR_NONE, /* there is no such thing here, and nothing to enable */
};

struct doctor_result {
	enum doctor_state state;
	char why[256];          /* what was found; for failures the reason in words */
	char fix[256];          /* the command line that would enable it; "" when nothing would */
	const char *setup_step; /* the step of `sonde setup` that does the same; NULL: none */
};

struct doctor_check {
	const char *name;
	const char *purpose; /* what sonde does with it */
	bool is_needed;      /* record cannot do without */
	void (*check)(struct doctor_result *report);
};

extern const struct doctor_check doctor_checks[]; /* ends with name NULL */
extern const char *const doctor_state_names[];

/* For checks: the report as printf. */
void doctor_report(struct doctor_result *r, enum doctor_state state, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
void doctor_fix(struct doctor_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The number in a /proc or /sys file; false when there is none. */
bool doctor_number(const char *path, long *value);
bool doctor_has_capability(int capability);

/* check-install.c: the installation and the CPU's own */
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
/* check-process.c: what the kernel says about processes and lets us do with them */
void check_ptrace(struct doctor_result *r);
void check_psi(struct doctor_result *r);
void check_delays(struct doctor_result *r);
void check_cgroups(struct doctor_result *r);
void check_sandbox(struct doctor_result *r);

#endif

/*
 * facilities: what sonde can use of this machine, one row each.
 *
 * A check tries the thing itself where that is possible (open the event, load
 * the program, mount in a namespace that dies with it) and reads settings only to
 * explain a failure. It changes nothing, waits for nothing and needs no more
 * than a few milliseconds. A new facility is one check and one row.
 */
#ifndef SONDE_CLI_FACILITIES_H
#define SONDE_CLI_FACILITIES_H

#include <stdbool.h>

enum facility_state {
	FACILITY_WORKS,
	FACILITY_PARTLY,
	FACILITY_NO,
	FACILITY_NONE, /* there is no such thing here, and nothing to enable */
};

struct facility_report {
	enum facility_state state;
	char why[256];          /* what was found; for failures the reason in words */
	char fix[256];          /* the command line that would enable it; "" when nothing would */
	const char *setup_step; /* the step of `sonde setup` that does the same; NULL: none */
};

struct facility {
	const char *name;
	const char *purpose; /* what sonde does with it */
	bool is_needed;      /* record cannot do without */
	void (*check)(struct facility_report *report);
};

extern const struct facility facilities[]; /* ends with name NULL */
extern const char *const facility_state_names[];

/* For checks: the report as printf. */
void facility_say(struct facility_report *r, enum facility_state state, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
void facility_fix(struct facility_report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The number in a /proc or /sys file; false when there is none. */
bool facility_number(const char *path, long *value);
bool facility_has_capability(int capability);

/* facility-install.c: the installation and the CPU's own */
void check_platform(struct facility_report *r);
void check_libsonde(struct facility_report *r);
void check_shared_memory(struct facility_report *r);
void check_tsc(struct facility_report *r);
void check_open_files(struct facility_report *r);
void check_python(struct facility_report *r);
void check_containers(struct facility_report *r);
void check_gpu(struct facility_report *r);
void check_energy(struct facility_report *r);
/* facility-kernel.c: what the kernel lets us observe */
void check_perf_user(struct facility_report *r);
void check_perf_kernel(struct facility_report *r);
void check_perf_hardware(struct facility_report *r);
void check_tracefs(struct facility_report *r);
void check_tracepoints(struct facility_report *r);
void check_bpf(struct facility_report *r);
void check_lockdown(struct facility_report *r);
void check_packets(struct facility_report *r);
/* facility-process.c: what the kernel says about processes and lets us do with them */
void check_ptrace(struct facility_report *r);
void check_psi(struct facility_report *r);
void check_delays(struct facility_report *r);
void check_cgroups(struct facility_report *r);
void check_sandbox(struct facility_report *r);

#endif

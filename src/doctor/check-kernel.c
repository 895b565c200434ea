/*
 * Checks of what the kernel lets this user observe: perf events, tracepoints, BPF, packets.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "doctor/checks.h"
#include "probe/probe.h"
#include "probe/syscall/bpf-calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* Opens the event on this process and closes it. Returns 0 or a positive errno. */
static int try_event(struct perf_event_attr *attr)
{
	CLEANUP(cleanup_fd) int fd = -1;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? errno : 0;
}

/* Reports a refused event: refused by perf_event_paranoid, which can be lowered to `level`, or by something else. */
static void refused(struct doctor_result *r, int error, long level)
{
	long paranoid;

	doctor_report(r, DOCTOR_NO, "perf_event_open: %s", strerror(error));
	if (!doctor_number(PARANOID, &paranoid)) {
		doctor_report(r, DOCTOR_NO, "the kernel was built without perf events");
		return;
	}
	if (error != EACCES && error != EPERM)
		return;
	if (paranoid > level) {
		doctor_report(r, DOCTOR_NO, "perf_event_open: %s (perf_event_paranoid is %ld)", strerror(error),
				paranoid);
		doctor_fix(r, "sudo sysctl kernel.perf_event_paranoid=%ld", level);
		r->setup_step = level >= 1 ? "perf" : NULL;
	} else {
		doctor_report(r, DOCTOR_NO,
				"perf_event_open: %s, though perf_event_paranoid is %ld: a seccomp filter or lockdown",
				strerror(error), paranoid);
		doctor_fix(r, "in a container: --cap-add PERFMON --security-opt seccomp=unconfined");
	}
}

static void check_cpu_clock(struct doctor_result *r, bool has_kernel, long level)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IP,
		.exclude_kernel = !has_kernel,
		.exclude_hv = 1,
	};
	int error = try_event(&attr);

	if (error)
		refused(r, error, level);
	else
		doctor_report(r, DOCTOR_WORKS, "cpu-clock sampling opens");
}

void check_perf_user(struct doctor_result *r)
{
	check_cpu_clock(r, false, 2);
}

void check_perf_kernel(struct doctor_result *r)
{
	check_cpu_clock(r, true, 1);
}

void check_perf_hardware(struct doctor_result *r)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = 1 };
	int error = try_event(&attr);

	if (!error)
		doctor_report(r, DOCTOR_WORKS, "the cycle counter opens");
	else if (error == ENOENT || error == EOPNOTSUPP)
		doctor_report(r, DOCTOR_NONE,
				"this machine offers no hardware counters (many virtual machines do not)");
	else
		refused(r, error, 2);
}

static const char *const tracefs_ids[] = {
	"/sys/kernel/tracing/events/sched/sched_switch/id",
	"/sys/kernel/debug/tracing/events/sched/sched_switch/id",
};

/* Returns 0 and the ID of the tracepoint, or the errno of the preferred path. */
static int tracepoint_id(long *id)
{
	int error = ENOENT;

	for (size_t i = 0; i < sizeof(tracefs_ids) / sizeof(*tracefs_ids); i++) {
		if (doctor_number(tracefs_ids[i], id))
			return 0;
		if (access(tracefs_ids[i], R_OK) != 0 && errno != ENOENT)
			error = errno;
	}
	return error;
}

void check_tracefs(struct doctor_result *r)
{
	long id;
	int error = tracepoint_id(&id);

	if (!error) {
		doctor_report(r, DOCTOR_WORKS, "mounted and readable");
	} else if (error == ENOENT) {
		doctor_report(r, DOCTOR_NO, "it is not mounted");
		doctor_fix(r, "sudo mount -t tracefs tracefs /sys/kernel/tracing");
		r->setup_step = "tracefs";
	} else {
		doctor_report(r, DOCTOR_NO, "it is mounted for others: %s", strerror(error));
		doctor_fix(r, "sudo mount -o remount,mode=750,gid=%u /sys/kernel/tracing", (unsigned)getgid());
	}
}

void check_tracepoints(struct doctor_result *r)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME,
	};
	long id;
	int error = tracepoint_id(&id);

	if (error) {
		check_tracefs(r);
		doctor_report(r, DOCTOR_NO, "tracefs is needed for their numbers");
		return;
	}
	attr.config = (unsigned long long)id;
	error = try_event(&attr);
	if (error)
		refused(r, error, -1);
	else
		doctor_report(r, DOCTOR_WORKS, "sched:sched_switch opens");
}

static long bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* A program of two instructions: r0 = 0, exit. */
void check_bpf(struct doctor_result *r)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACEPOINT,
		.insns = (unsigned long)nothing,
		.insn_cnt = sizeof(nothing) / sizeof(*nothing),
		.license = (unsigned long)"GPL",
	};
	CLEANUP(cleanup_fd) int fd = kernel_calls_are_built ? (int)bpf(BPF_PROG_LOAD, &attr) : -1;

	if (!kernel_calls_are_built) {
		doctor_report(r, DOCTOR_NO, "this sonde was built without bpf");
		doctor_fix(r, "meson configure build/meson -Dbpf=enabled && make (in the source tree)");
		return;
	}
	if (fd >= 0) {
		doctor_report(r, DOCTOR_WORKS, "a tracepoint program loads");
		return;
	}
	doctor_report(r, DOCTOR_NO, "BPF_PROG_LOAD: %s", strerror(errno));
	if (errno == EPERM && doctor_has_capability(CAP_SYS_ADMIN))
		doctor_fix(r, "boot with lockdown=none, or in a container: --privileged");
	else if (errno == EPERM)
		doctor_fix(r, "sudo sonde record ... (it needs CAP_BPF and CAP_PERFMON)");
}

static bool has_chosen(const char *text, const char *word)
{
	const char *open = strchr(text, '[');

	return open && strncmp(open + 1, word, strlen(word)) == 0 && open[1 + strlen(word)] == ']';
}

/* The file is missing: the kernel has no lockdown, or securityfs is not mounted. */
static void no_lockdown_file(struct doctor_result *r)
{
	struct statfs fs;

	if (statfs("/sys/kernel/security", &fs) == 0 && fs.f_type == SECURITYFS_MAGIC) {
		doctor_report(r, DOCTOR_WORKS, "this kernel has none");
		return;
	}
	doctor_report(r, DOCTOR_PARTLY, "unknown: securityfs is not mounted");
	doctor_fix(r, "sudo mount -t securityfs securityfs /sys/kernel/security");
}

void check_lockdown(struct doctor_result *r)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (fs_read_file(AT_FDCWD, "/sys/kernel/security/lockdown", 256, &text, NULL)) {
		no_lockdown_file(r);
		return;
	}
	if (has_chosen(text.data, "none")) {
		doctor_report(r, DOCTOR_WORKS, "off");
		return;
	}
	if (has_chosen(text.data, "integrity"))
		doctor_report(r, DOCTOR_PARTLY, "integrity: kernel probes that write are forbidden");
	else
		doctor_report(r, DOCTOR_NO, "confidentiality: kernel tracing that reads memory is forbidden");
	doctor_fix(r, "boot with lockdown=none and without Secure Boot");
}

/* Protocol 0 receives nothing. */
void check_packets(struct doctor_result *r)
{
	CLEANUP(cleanup_fd) int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int error = errno;

	if (fd >= 0) {
		doctor_report(r, DOCTOR_WORKS, "a packet socket opens");
		return;
	}
	struct sonde_err why = SONDE_ERR_INIT;
	int rc = error == EPERM ? probe_packets_check(&why) : -error;
	if (!rc) {
		doctor_report(r, DOCTOR_WORKS, "the helper captures headers of packets");
		return;
	}
	if (rc == -EACCES) {
		doctor_report(r, DOCTOR_NO, "%s", why.text);
		doctor_fix(r, "%s", why.hint);
		return;
	}
	doctor_report(r, DOCTOR_NO, "packet socket: %s", strerror(error));
	if (error == EPERM) {
		doctor_fix(r, "sudo sonde setup; in a container: --cap-add NET_RAW");
		r->setup_step = "packets";
	}
}

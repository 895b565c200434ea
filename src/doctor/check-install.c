/*
 * What all checks share, and the checks of the installation, the memory and limits a recording needs, and the programs
 * and devices of this machine.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "doctor/checks.h"
#include "launch/spawn-command.h"
#include "result/term.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define ROW(id, name, purpose, is_needed) { name, purpose, is_needed, check_##id },
const struct doctor_check doctor_checks[] = { DOCTOR_CHECKS(ROW){ NULL } };

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

#define KERNEL_MAJOR 5 /* doc/platform.md: waitid on a pidfd came with 5.4 */
#define KERNEL_MINOR 4
#define MIB ((uint64_t)1 << 20)
#define ROOM_WANTED (64 * MIB)
#define OPEN_FILES_WANTED 4096
#define CAPTURE_MS 200
#define PYTHON_MS 1000 /* version managers install a wrapper script as python3 */

/* Checks the kernel version only; the build checked the rest. */
void check_platform(struct doctor_result *r)
{
	struct utsname u;
	int major = 0, minor = 0;

	if (uname(&u) != 0 || sscanf(u.release, "%d.%d", &major, &minor) != 2) {
		doctor_report(r, DOCTOR_PARTLY, "cannot read the version of the kernel");
		return;
	}
	bool is_old = major < KERNEL_MAJOR || (major == KERNEL_MAJOR && minor < KERNEL_MINOR);
	doctor_report(r, is_old ? DOCTOR_NO : DOCTOR_WORKS, "%s %s on %s, glibc %s", u.sysname, u.release, u.machine,
			gnu_get_libc_version());
	if (is_old)
		doctor_fix(r, "boot Linux %d.%d or later", KERNEL_MAJOR, KERNEL_MINOR);
}

/* Returns the line in which the loader reports an error, NULL if none. Terminates the output at that line. */
static const char *find_trouble(char *answer)
{
	static const char *const signs[] = { "cannot be preloaded", "not found", "undefined symbol" };

	for (char *line; (line = strsep(&answer, "\n"));)
		for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
			if (strstr(line, signs[i]))
				return line + strspn(line, " \t");
	return NULL;
}

/* Returns the dynamic loader's error for preloading the library into this program, NULL if none. The loader only
 * lists what it would load, so no constructor runs. */
static const char *query_loader(char *preload, struct buf *answer)
{
	char self[] = "/proc/self/exe", trace[] = "LD_TRACE_LOADED_OBJECTS=1", warn[] = "LD_WARN=1",
	     now[] = "LD_BIND_NOW=1";
	char *argv[] = { self, NULL }, *env[] = { preload, trace, warn, now, NULL };
	struct launch_command loader = { .argv = argv, .env = env, .fds = { JOB_FD_NULL } };
	int rc = launch_output(&loader, CAPTURE_MS, answer, NULL);

	return rc ? strerror(-rc) : find_trouble(answer->data);
}

void check_libsonde(struct doctor_result *r)
{
	CLEANUP(buf_release) struct buf preload = BUF_INIT;
	CLEANUP(buf_release) struct buf answer = BUF_INIT;
	const char *path, *trouble;
	int rc;

	buf_adds(&preload, "LD_PRELOAD=");
	rc = fs_prefix(&preload, NULL);
	buf_adds(&preload, "/lib/libsonde.so.0");
	path = preload.data + strlen("LD_PRELOAD=");
	if (rc || access(path, R_OK) != 0) {
		doctor_report(r, DOCTOR_NO, "cannot read '%s': %s", path, strerror(rc ? -rc : errno));
		doctor_fix(r, "make (in the source tree), or install sonde again");
		return;
	}
	trouble = query_loader(preload.data, &answer);
	if (trouble) {
		doctor_report(r, DOCTOR_NO, "%s", trouble);
		doctor_fix(r, "make (in the source tree), or install sonde again");
		return;
	}
	doctor_report(r, DOCTOR_WORKS, "%s", path);
}

/* Allocates 1 MiB in an unnamed file, as the tracer does. Returns 0 or a positive errno. */
static int try_room(const char *dir, uint64_t *free_bytes)
{
	struct statvfs fs;
	CLEANUP(cleanup_fd) int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && errno != EOPNOTSUPP)
		return errno;
	if (fd >= 0 && fallocate(fd, 0, 0, (off_t)MIB) != 0)
		return errno;
	if (statvfs(dir, &fs) != 0)
		return errno;
	*free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	return 0;
}

void check_shared_memory(struct doctor_result *r)
{
	const char *named = getenv("TMPDIR"), *tmp = named ? named : "/tmp";
	char size[TERM_TEXT];
	uint64_t free_bytes = 0;
	int shm_error = try_room("/dev/shm", &free_bytes), tmp_error;

	if (!shm_error && free_bytes >= ROOM_WANTED) {
		doctor_report(r, DOCTOR_WORKS, "%s free in /dev/shm", term_bytes(size, free_bytes));
		return;
	}
	doctor_fix(r, "sudo mount -o remount,size=1G /dev/shm (a container: --shm-size=1g)");
	if (!shm_error) {
		doctor_report(r, DOCTOR_PARTLY, "only %s free in /dev/shm: busy programs will drop events",
				term_bytes(size, free_bytes));
		return;
	}
	tmp_error = try_room(tmp, &free_bytes);
	if (tmp_error)
		doctor_report(r, DOCTOR_NO, "no room in /dev/shm (%s) nor in %s (%s)", strerror(shm_error), tmp,
				strerror(tmp_error));
	else
		doctor_report(r, DOCTOR_PARTLY, "no room in /dev/shm (%s); %s is used and is slower",
				strerror(shm_error), tmp);
}

void check_tsc(struct doctor_result *r)
{
	if (clock_ticks_are_constant())
		doctor_report(r, DOCTOR_WORKS, "the CPU's time stamp counter is constant and the kernel trusts it");
	else
		doctor_report(r, DOCTOR_NO, "the CPU or the kernel does not vouch for it; CLOCK_MONOTONIC is used");
}

void check_open_files(struct doctor_result *r)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
		doctor_report(r, DOCTOR_NO, "cannot read the limit: %s", strerror(errno));
		return;
	}
	doctor_report(r, limit.rlim_max >= OPEN_FILES_WANTED ? DOCTOR_WORKS : DOCTOR_PARTLY,
			"limit %llu, can be raised to %llu", (unsigned long long)limit.rlim_cur,
			(unsigned long long)limit.rlim_max);
	if (r->state != DOCTOR_WORKS)
		doctor_fix(r, "sudo prlimit --pid $$ --nofile=65536:65536");
}

/* Finds the first executable file `name` on PATH. */
static bool find_program(const char *name, struct buf *path)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t len = strcspn(at, ":");

		buf_reset(path);
		buf_add(path, at, len);
		buf_addf(path, "/%s", name);
		if (len && access(path->data, X_OK) == 0)
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

void check_python(struct doctor_result *r)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(buf_release) struct buf said = BUF_INIT;
	char option[] = "--version";
	int major, minor;

	doctor_fix(r, "sudo apt install python3");
	if (!find_program("python3", &path)) {
		doctor_report(r, DOCTOR_NO, "python3 not found in PATH");
		return;
	}
	char *argv[] = { path.data, option, NULL };
	struct launch_command python = { .argv = argv, .fds = { JOB_FD_NULL } };
	if (launch_output(&python, PYTHON_MS, &said, NULL) || sscanf(said.data, "Python %d.%d", &major, &minor) != 2) {
		doctor_report(r, DOCTOR_NO, "'%s --version' prints nothing", path.data);
		return;
	}
	doctor_report(r, major == 3 && minor >= 9 ? DOCTOR_WORKS : DOCTOR_PARTLY, "%s is Python %d.%d", path.data,
			major, minor);
	if (r->state == DOCTOR_WORKS)
		doctor_fix(r, "%s", "");
}

void check_containers(struct doctor_result *r)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	if (find_program("podman", &path)) {
		doctor_report(r, DOCTOR_WORKS, "%s", path.data);
		return;
	}
	if (!find_program("docker", &path)) {
		doctor_report(r, DOCTOR_NO, "there is neither podman nor docker on PATH");
		doctor_fix(r, "sudo apt install podman");
	} else if (access("/var/run/docker.sock", W_OK) == 0) {
		doctor_report(r, DOCTOR_WORKS, "%s", path.data);
	} else {
		doctor_report(r, DOCTOR_NO, "%s is installed, but its engine cannot be reached: %s", path.data,
				strerror(errno));
		doctor_fix(r, errno == EACCES ? "sudo usermod -aG docker $USER" : "sudo systemctl start docker");
	}
}

static bool has_render_node(void)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	for (int i = 128; i < 136; i++) {
		buf_reset(&path);
		buf_addf(&path, "/dev/dri/renderD%d", i);
		if (access(path.data, F_OK) == 0)
			return true;
	}
	return false;
}

void check_energy(struct doctor_result *r)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, "/sys/class/powercap/intel-rapl:0/energy_uj", 64, &text, NULL);

	if (!rc) {
		doctor_report(r, DOCTOR_WORKS, "the CPUs' own meters (RAPL) can be read");
	} else if (rc == -EACCES || rc == -EPERM) {
		doctor_report(r, DOCTOR_NO, "the CPUs' own meters (RAPL) are for root only");
		doctor_fix(r, "sudo sonde record ...");
	} else {
		doctor_report(r, DOCTOR_NONE, "this machine does not meter the energy of its CPUs");
	}
}

void check_gpu(struct doctor_result *r)
{
	CLEANUP(buf_release) struct buf opencl = BUF_INIT;
	void *nvml;

	/* Lists the OpenCL implementations that the ICD loader would find. */
	CLEANUP(cleanup_dir) DIR *dir = opendir("/etc/OpenCL/vendors");
	const struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir)) && count < 4) {
		const char *end = strstr(entry->d_name, ".icd");
		if (end && !end[4])
			buf_addf(&opencl, "%s%.*s", count++ ? " and " : "; OpenCL commands are recorded, by ",
					(int)(end - entry->d_name), entry->d_name);
	}
	if (access("/dev/nvidiactl", F_OK) != 0) {
		if (has_render_node() || access("/dev/kfd", F_OK) == 0)
			doctor_report(r, DOCTOR_NO, "a GPU exists, but no NVIDIA driver%s", opencl.data);
		else
			doctor_report(r, DOCTOR_NONE, "this machine has no GPU device%s", opencl.data);
		return;
	}
	nvml = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (nvml) {
		doctor_report(r, DOCTOR_WORKS, "NVIDIA driver with NVML");
		dlclose(nvml);
		return;
	}
	doctor_report(r, DOCTOR_NO, "an NVIDIA device exists, but not its NVML library");
	doctor_fix(r, "sudo apt install libnvidia-ml1");
}

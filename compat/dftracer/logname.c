#include "image.h"

#include "pfw/line-write.h"
#include "tracer/raw-syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* How the name was built, for children. */
static struct {
	bool is_given;
	char start[PFWLOG_PATH_BYTES]; /* absolute, up to the part specific to the process */
	char exe[256];
	const char *suffix;
	const char *ending; /* .pfw, .pfw.gz, or the suffix of a given name */
} made;

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void copy(char *to, size_t room, const char *from)
{
	size_t n = strlen(from);
	if (n >= room)
		n = room - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

/* True for the first word of the command that names the program: not an option, not an interpreter. */
static bool is_program(const char *word)
{
	const char *name = base_name(word);
	return *name && *name != '-' && !strstr(name, "python") && strcmp(name, "env") != 0 &&
			!strstr(word, "multiprocessing");
}

static void name_program(const char *command, size_t bytes, const struct settings *s)
{
	const char *found = NULL;
	size_t words = 0;
	for (const char *word = command; word < command + bytes; word += strlen(word) + 1, words++)
		if (!found && is_program(word))
			found = word;
	if (s->is_strict && words < 2)
		found = "DEFAULT";
	char exe[PFWLOG_PATH_BYTES] = "DEFAULT";
	if (!found) {
		long n = sys4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", exe, sizeof(exe) - 1);
		if (n > 0)
			exe[n] = '\0';
		found = exe;
	}
	copy(made.exe, sizeof(made.exe), base_name(found));
	for (char *p = made.exe; *p; p++)
		if (*p == '/' || (unsigned char)*p < 0x20)
			*p = '_';
}

static int32_t rank(void)
{
	static const char *const variables[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK" };
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = getenv(variables[i]);
		if (value && *value >= '0' && *value <= '9')
			return (int32_t)strtol(value, NULL, 10);
	}
	return -1;
}

/* The settings that generation E writes in `end`. */
static void describe_settings(struct pfwlog_setup *u, const struct settings *s, bool is_bound)
{
	static const char *const metrics[] = { "US", "NS", "MS", "SEC" };
	snprintf(u->facts, sizeof(u->facts),
			",\"cfg\":{\"enable\":1,\"metadata\":%d,\"core_affinity\":%d,\"time_metric\":\"%s\",\"io\":%d,"
			"\"posix\":%d,"
			"\"stdio\":%d,\"compression\":%d,\"trace_all_files\":%d,\"tids\":%d,\"bind_signals\":%d,"
			"\"write_buffer_size\":%lld,\"trace_interval_ms\":%lld,\"aggregation_enable\":%d,\"bind\":%d,"
			"\"aggregation_type\":\"%s\",\"gotcha_priority\":%lld,\"throw_error\":%d},"
			"\"build\":{\"mpi\":0,\"hdf5\":0,\"hip\":0,\"cuda\":0,\"finstrument\":1}",
			(int)s->has_metadata, (int)s->has_core_affinity, metrics[s->time_metric], (int)s->has_io,
			(int)s->has_posix, (int)s->has_stdio, (int)s->has_compression, !*s->data_dirs, (int)s->has_tids,
			(int)s->binds_signals, (long long)u->batch_bytes, (long long)s->interval_ms,
			(int)s->is_aggregating, is_bound, u->is_selective ? "SELECTIVE" : "FULL",
			(long long)s->gotcha_priority, (int)s->throws_error);
}

void log_name_describe(struct pfwlog_setup *u, const struct settings *s, bool is_bound)
{
	time_t now = time(NULL);
	struct tm tm;
	if (gethostname(u->host, sizeof(u->host) - 1))
		copy(u->host, sizeof(u->host), "unknown");
	size_t n = 0, room = sizeof(u->command) - 1;
	int fd = sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
	for (long got; fd >= 0 && n < room && (got = sys3(SYS_read, fd, u->command + n, room - n)) > 0;)
		n += (size_t)got;
	if (fd >= 0)
		sys_close(fd);
	u->command[n] = '\0';
	name_program(u->command, n, s);
	while (n && !u->command[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!u->command[i])
			u->command[i] = ';';
	copy(u->exe, sizeof(u->exe), made.exe);
	long link = sys4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", u->exe, sizeof(u->exe) - 1);
	if (link > 0)
		u->exe[link] = '\0';
	long cwd = sys2(SYS_getcwd, u->cwd, sizeof(u->cwd));
	if (cwd <= 0)
		u->cwd[0] = '\0';
	if (!localtime_r(&now, &tm) || !strftime(u->date, sizeof(u->date), "%a %b %e %H:%M:%S %Y", &tm))
		u->date[0] = '\0';
	u->affinity[0] = '\0';
	if (s->has_core_affinity) {
		/* [0,1,4] */
		char *out = u->affinity;
		cpu_set_t set;
		char *at = out;
		*at++ = '[';
		CPU_ZERO(&set);
		if (sched_getaffinity(0, sizeof(set), &set))
			CPU_ZERO(&set);
		for (int i = 0; i < CPU_SETSIZE && (size_t)(at - out) + 12 < sizeof(u->affinity); i++)
			if (CPU_ISSET(i, &set)) {
				if (at > out + 1)
					*at++ = ',';
				at = put_int(at, i);
			}
		*at++ = ']';
		*at = '\0';
	}
	u->rank = rank();
	describe_settings(u, s, is_bound);
}

/* The name of this process's log, built from `made`. */
static void name_log(struct pfwlog_setup *u, int32_t pid, bool is_child)
{
	char *at = put_text(u->path, made.start);
	if (made.is_given) {
		if (is_child) {
			*at++ = '-';
			at = put_int(at, pid);
		}
	} else if (u->generation >= 'D') {
		char whole[768], *end = put_text(whole, made.exe);
		*end++ = '-';
		end = put_text(end, u->host);
		*end++ = '-';
		end = put_int(end, pid);
		*at++ = '-';
		at = put_hex(at, pfw_hash_d(whole, (size_t)(end - whole)));
		at = put_text(at, made.suffix);
	} else {
		*at++ = '-';
		at = put_text(at, made.exe);
		*at++ = '-';
		at = put_int(at, pid);
		at = put_text(at, made.suffix);
	}
	*put_text(at, made.ending) = '\0';
}

/* A given name keeps its suffix; .gz means compressed. */
static void split_ending(struct pfwlog_setup *u, char *start)
{
	static const char *const endings[] = { ".pfw.gz", ".pfw" };
	size_t n = strlen(start);
	made.ending = u->is_gzip ? ".gz" : "";
	for (size_t i = 0; i < 2; i++) {
		size_t k = strlen(endings[i]);
		if (n > k && !strcmp(start + n - k, endings[i])) {
			start[n - k] = '\0';
			u->is_gzip |= i == 0;
			made.ending = u->is_gzip ? endings[0] : endings[1];
			return;
		}
	}
}

int log_name_make(struct pfwlog_setup *u, const char *log_file, const struct settings *s, bool is_preload)
{
	const char *name = log_file ? log_file : s->log_file;
	size_t room = sizeof(made.start) - sizeof(made.exe) - 80;
	char *at = made.start;
	if (name[0] != '/') {
		at = put_text(at, u->cwd);
		*at++ = '/';
		if (name[0] == '.' && name[1] == '/')
			name += 2;
	}
	if ((size_t)(at - made.start) + strlen(name) > room)
		return -ENAMETOOLONG;
	*put_text(at, name) = '\0';
	made.is_given = log_file != NULL;
	made.suffix = is_preload ? "-preload" : "-app";
	made.ending = u->is_gzip ? ".pfw.gz" : ".pfw";
	if (made.is_given)
		split_ending(u, made.start);
	name_log(u, (int32_t)sys0(SYS_getpid), false);
	return 0;
}

void log_name_of_child(struct pfwlog_setup *u, int32_t pid)
{
	u->ppid = (int32_t)sys0(SYS_getppid);
	u->pid = pid;
	name_log(u, pid, true);
}

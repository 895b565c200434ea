#include "ringplace.h"

#include "pfw/line-write.h"
#include "pfw/pfwlog.h"
#include "tracer/tracer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#define MEMORY "/dev/shm"
#define MEMORY_BYTES_LEAST (32ull << 20)
#define LINKS_MAX 10 /* killed processes of the same name, pid and log that were not recovered */

static char own_place[PATH_BYTES_MAX], link_name[PATH_BYTES_MAX];

static bool has_memory_room(void)
{
	struct statfs fs;
	return !sys2(SYS_statfs, MEMORY, &fs) && (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize >= MEMORY_BYTES_LEAST;
}

/* <log>.ring, <log>.1.ring ... */
static bool name_link(char name[PATH_BYTES_MAX], const char *log, unsigned number)
{
	if (strlen(log) + 16 > PATH_BYTES_MAX)
		return false;
	char *at = put_text(name, log);
	if (number) {
		*at++ = '.';
		at = put_uint(at, number);
	}
	at = PUT(at, ".ring");
	*at = '\0';
	return true;
}

static bool make_in_memory(const char *log)
{
	char *at = PUT(own_place, MEMORY "/sonde-dftracer-");
	at = put_uint(at, (uint64_t)sys0(SYS_getpid));
	*at++ = '-';
	at = put_hex(at, __builtin_ia32_rdtsc());
	*at = '\0';
	if (!has_memory_room() || sys2(SYS_mkdir, own_place, 0700))
		return false;
	family_join((int32_t)sys0(SYS_getpid), own_place);
	for (unsigned i = 0; i < LINKS_MAX && name_link(link_name, log, i); i++)
		if (sys2(SYS_symlink, own_place, link_name) != -EEXIST)
			return true; /* without a link it works but cannot be found */
	link_name[0] = '\0';
	return true;
}

static bool make_beside(const char *log)
{
	for (unsigned i = 0; i < LINKS_MAX && name_link(link_name, log, i); i++)
		if (!sys2(SYS_mkdir, link_name, 0700)) {
			*put_text(own_place, link_name) = '\0';
			link_name[0] = '\0';
			return true;
		}
	return false;
}

const char *ring_place_make(const char *log)
{
	return make_in_memory(log) || make_beside(log) ? own_place : NULL;
}

static void remove_file(const char *dir, const char *name)
{
	char path[PATH_BYTES_MAX + 64], *at = put_text(path, dir);
	*at++ = '/';
	*put_text(at, name) = '\0';
	sys1(SYS_unlink, path);
}

static void remove_ring(const char *dir, uint32_t process, uint32_t segments)
{
	static const char *const files[] = { "control", "state", "names", "strings", "files", "text" };
	for (uint32_t i = 0; i < segments; i++) {
		char name[32], *at = put_uint(name, process);
		*at++ = '.';
		*put_uint(at, i) = '\0';
		remove_file(dir, name);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		remove_file(dir, files[i]);
	sys1(SYS_rmdir, dir);
}

void ring_place_remove(void)
{
	family_leave((int32_t)sys0(SYS_getpid));
	if (link_name[0])
		sys1(SYS_unlink, link_name);
	remove_ring(own_place, tracer.process, tracer.segment_count);
}

/* Of the links next to the log, remove only the one that points to the directory. */
void ring_place_remove_other(const char *dir, const char *log, uint32_t process, uint32_t segments)
{
	char target[PATH_BYTES_MAX], name[PATH_BYTES_MAX];
	size_t bytes = strlen(dir);
	for (unsigned i = 0; i < LINKS_MAX && name_link(name, log, i); i++) {
		long n = sys4(SYS_readlinkat, AT_FDCWD, name, target, sizeof(target));
		if (n == (long)bytes && !memcmp(target, dir, bytes))
			sys1(SYS_unlink, name);
	}
	remove_ring(dir, process, segments);
}

/* Logs of dead processes of a family. Uses only raw system calls. */

#define MEMBERS_MAX 256u
#define CLAIMED UINT32_MAX

struct member {
	uint32_t pid; /* atomic; 0: free, CLAIMED: being filled in, or its log being finished */
	uint32_t parent;
	char place[56];
};
static struct member *members; /* shared */
static uint32_t founder;       /* pid of the creator: it also finishes the logs of orphans */

void family_begin(void)
{
	if (members)
		return;
	founder = (uint32_t)sys0(SYS_getpid);
	members = sys_map(MEMBERS_MAX * sizeof(*members), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
}

static bool claim(struct member *m, uint32_t pid)
{
	return __atomic_compare_exchange_n(&m->pid, &pid, CLAIMED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void family_join(int32_t pid, const char *place)
{
	for (uint32_t i = 0; members && strlen(place) < sizeof(members->place) && i < MEMBERS_MAX; i++)
		if (!__atomic_load_n(&members[i].pid, __ATOMIC_RELAXED) && claim(&members[i], 0)) {
			*put_text(members[i].place, place) = '\0';
			members[i].parent = (uint32_t)sys0(SYS_getppid);
			__atomic_store_n(&members[i].pid, (uint32_t)pid, __ATOMIC_RELEASE);
			return;
		}
}

void family_leave(int32_t pid)
{
	for (uint32_t i = 0; members && i < MEMBERS_MAX; i++)
		if (__atomic_load_n(&members[i].pid, __ATOMIC_RELAXED) == (uint32_t)pid)
			__atomic_store_n(&members[i].pid, 0, __ATOMIC_RELEASE);
}

/* A zombie counts as dead, too. */
static bool is_dead(uint32_t pid)
{
	char path[32], stat[512], *at = put_uint(PUT(path, "/proc/"), pid);
	*PUT(at, "/stat") = '\0';
	if (sys2(SYS_kill, pid, 0) == -ESRCH)
		return true;
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : sys3(SYS_read, fd, stat, sizeof(stat) - 1);
	if (fd >= 0)
		sys_close(fd);
	stat[n > 0 ? n : 0] = '\0';
	const char *end = strrchr(stat, ')');
	return end && end[1] == ' ' && (end[2] == 'Z' || end[2] == 'X');
}

static struct sonde_segment *map_segment(const char *place, uint32_t process, uint32_t number, size_t *bytes)
{
	char path[128], *at = put_text(path, place);
	struct stat st;
	struct sonde_segment *s = NULL;
	*at++ = '/';
	at = put_uint(at, process);
	*at++ = '.';
	*put_uint(at, number) = '\0';
	int fd = sys_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return NULL;
	if (!sys2(SYS_fstat, fd, &st) && st.st_size >= (off_t)SONDE_SEGMENT_HEAD_BYTES) {
		*bytes = (size_t)st.st_size;
		s = sys_map(*bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	}
	sys_close(fd);
	if (s && s->magic == SONDE_SEGMENT_MAGIC)
		return s;
	if (s)
		sys2(SYS_munmap, s, *bytes);
	return NULL;
}

static void finish_log(const char *place)
{
	struct sonde_segment *segments[SONDE_SEGMENTS_MAX];
	size_t bytes[SONDE_SEGMENTS_MAX];
	uint32_t count = 0;
	int error;
	struct pfwlog *log = pfwlog_reopen(place, &error);
	if (!log)
		return; /* `sonde recover` may succeed */
	uint32_t process = pfwlog_state(log)->process;
	while (count < SONDE_SEGMENTS_MAX && (segments[count] = map_segment(place, process, count, &bytes[count]))) {
		pfwlog_add_segment(log, segments[count], bytes[count]);
		count++;
	}
	pfwlog_consume(log, PFWLOG_LAST, true);
	if (!pfwlog_end(log, true))
		ring_place_remove_other(place, pfwlog_state(log)->setup.path, process, count);
	pfwlog_free(log);
	while (count--)
		sys2(SYS_munmap, segments[count], bytes[count]);
}

void family_finish_dead(void)
{
	uint32_t mine = (uint32_t)tracer.pid;
	for (uint32_t i = 0; members && i < MEMBERS_MAX; i++) {
		uint32_t pid = __atomic_load_n(&members[i].pid, __ATOMIC_ACQUIRE);
		if (!pid || pid == CLAIMED || pid == mine || (members[i].parent != mine && founder != mine))
			continue;
		if (!is_dead(pid) || !claim(&members[i], pid))
			continue;
		finish_log(members[i].place);
		__atomic_store_n(&members[i].pid, 0, __ATOMIC_RELEASE);
	}
}

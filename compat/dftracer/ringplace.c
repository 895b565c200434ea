#include "ringplace.h"

#include "family.h"
#include "pfw/line-write.h"
#include "tracer/tracer.h"

#include <fcntl.h>
#include <sys/statfs.h>

#define MEMORY "/dev/shm"
#define MEMORY_BYTES_LEAST (32ull << 20)
#define LINKS_MAX 10 /* killed processes of the same name, pid and log that were not recovered */

static char place[PATH_BYTES_MAX], link_name[PATH_BYTES_MAX];

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
	char *at = PUT(place, MEMORY "/sonde-dftracer-");
	at = put_uint(at, (uint64_t)sys0(SYS_getpid));
	*at++ = '-';
	at = put_hex(at, __builtin_ia32_rdtsc());
	*at = '\0';
	if (!has_memory_room() || sys2(SYS_mkdir, place, 0700))
		return false;
	family_join((int32_t)sys0(SYS_getpid), place);
	for (unsigned i = 0; i < LINKS_MAX && name_link(link_name, log, i); i++)
		if (sys2(SYS_symlink, place, link_name) != -EEXIST)
			return true; /* without a link it works but cannot be found */
	link_name[0] = '\0';
	return true;
}

static bool make_beside(const char *log)
{
	for (unsigned i = 0; i < LINKS_MAX && name_link(link_name, log, i); i++)
		if (!sys2(SYS_mkdir, link_name, 0700)) {
			*put_text(place, link_name) = '\0';
			link_name[0] = '\0';
			return true;
		}
	return false;
}

const char *ring_place_make(const char *log)
{
	return make_in_memory(log) || make_beside(log) ? place : NULL;
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
	remove_ring(place, tracer.process, tracer.segment_count);
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

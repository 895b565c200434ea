/* Where a ring lives; see ringplace.h. */
#include "ringplace.h"

#include "pfwlog/line.h"
#include "tracer/tracer.h"

#include <fcntl.h>
#include <sys/statfs.h>

#define MEMORY "/dev/shm"
#define MEMORY_BYTES_LEAST (32ull << 20)
#define LINKS_MAX 10 /* killed processes of the same name, pid and log that nobody has recovered */

static char place[PATH_BYTES_MAX], link_name[PATH_BYTES_MAX];

static bool has_memory_room(void)
{
	struct statfs fs;
	return !sys2(SYS_statfs, MEMORY, &fs) && (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize >= MEMORY_BYTES_LEAST;
}

/* <log>.ring, <log>.1.ring ... */
static bool name_link(const char *log, unsigned number)
{
	if (strlen(log) + 16 > sizeof(link_name))
		return false;
	char *at = put_text(link_name, log);
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
	for (unsigned i = 0; i < LINKS_MAX && name_link(log, i); i++)
		if (sys2(SYS_symlink, place, link_name) != -EEXIST)
			return true; /* without a link it cannot be found, but it works */
	link_name[0] = '\0';
	return true;
}

static bool make_beside(const char *log)
{
	for (unsigned i = 0; i < LINKS_MAX && name_link(log, i); i++)
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

static void remove_file(const char *name)
{
	char path[PATH_BYTES_MAX + 64], *at = put_text(path, place);
	*at++ = '/';
	*put_text(at, name) = '\0';
	sys1(SYS_unlink, path);
}

static void remove_segment(uint32_t number)
{
	char name[32], *at = put_uint(name, tracer.process);
	*at++ = '.';
	*put_uint(at, number) = '\0';
	remove_file(name);
}

void ring_place_remove(void)
{
	static const char *const files[] = { "control", "state", "names", "strings", "files", "text" };
	if (link_name[0])
		sys1(SYS_unlink, link_name);
	for (uint32_t i = 0; i < tracer.segment_count; i++)
		remove_segment(i);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		remove_file(files[i]);
	sys1(SYS_rmdir, place);
}

/*
 * libsonde starts by itself if the environment names a ring: in the constructor, or in the first hook if another
 * library's constructor calls one before.
 */
#include "calls/calls-hash.h"
#include "calls/calls-text.h"
#include "tracer/env.h"
#include "tracer/segment.h"

#include <fcntl.h>

/*
 * The numbers of calls mean nothing to another build: leave the table beside the ring, unless the recorder has the same
 * one. It gets its name when it is complete, and before the first segment, so that a reader of a segment finds it.
 */
static void leave_calls(void)
{
	size_t dir = strlen(tracer.ring_dir);
	char *path = __builtin_alloca(dir + 1 + CALLS_FILE_BYTES),
	     *part = __builtin_alloca(dir + CALLS_FILE_BYTES + 16);
	if (tracer.control->calls_hash == CALLS_HASH)
		return;
	memcpy(path, tracer.ring_dir, dir);
	path[dir] = '/';
	calls_file_name(path + dir + 1, CALLS_HASH);
	put_number(stpcpy(stpcpy(part, path), "."), (uint32_t)sys0(SYS_getpid));
	int fd = is_within_file_limit(calls_text_bytes)
			? sys_open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
			: -EFBIG;
	if (fd < 0)
		return;
	if (sys3(SYS_write, fd, calls_text, calls_text_bytes) == (long)calls_text_bytes) {
		long rc = sys2(SYS_link, part, path);
		if ((!rc || rc == -EEXIST) && !tracer.control->calls_hash)
			tracer.control->calls_hash = CALLS_HASH;
	}
	sys_close(fd);
	sys1(SYS_unlink, part);
}

void tracer_start(void)
{
	const char *ring = env_take();
	if (ring && tracer_open_control(ring)) {
		leave_calls();
		tracer_switch_on();
	}
}

__attribute__((constructor(101))) static void constructor(int argc, char **argv)
{
	int kept_errno = errno;
	tracer_init();
	if (tracer.categories && tracer_wants(tracer.categories))
		tracer_introduce(argc, argv);
	errno = kept_errno;
}

/*
 * AddressSanitizer refuses to run if another library was loaded before it. Default options of the program can disable
 * this check; a program that defines them itself takes precedence over us.
 */
EXPORT const char *__asan_default_options(void);
EXPORT const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

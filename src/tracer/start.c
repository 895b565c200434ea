/*
 * libsonde starts by itself, when the environment names a ring: in the constructor,
 * or in the first hook when some other library's constructor calls one before that.
 */
#include "tracer/env.h"
#include "tracer/tracer.h"

void tracer_start(void)
{
	const char *ring = env_take();
	if (ring)
		tracer_switch_on(ring);
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
 * AddressSanitizer refuses to run when any library was loaded before it. Its
 * check can be switched off by the program's default options; a program that
 * defines them itself is found before us and keeps its own.
 */
EXPORT const char *__asan_default_options(void);
EXPORT const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

/*
 * libsonde starts by itself if the environment names a ring: in the constructor, or in the first hook if another
 * library's constructor calls one before.
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
 * AddressSanitizer refuses to run if another library was loaded before it. Default options of the program can disable
 * this check; a program that defines them itself takes precedence over us.
 */
EXPORT const char *__asan_default_options(void);
EXPORT const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

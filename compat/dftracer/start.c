/*
 * Automatic start and end of tracing: the preloaded library starts it with the program if DFTRACER_INIT is PRELOAD;
 * both libraries end it with the process, even if the program has not finalized.
 */
#include "bind.h"
#include "image.h"
#include "settings.h"
#include "tracer/resolve.h"
#include "tracer/tracer.h"

#ifdef DFTRACER_IS_PRELOAD

/* It needs no binding: the dynamic linker resolves its hooks first. */
bool bind_is_pending;

void bind_calls(void) {}

void tracer_start(void) {}

__attribute__((constructor(101))) static void preload(void)
{
	static struct settings settings;
	int kept_errno = errno;
	settings_read(&settings);
	if (settings.is_enabled && settings.init == INIT_PRELOAD)
		image_begin(&(struct image_options){ .process_id = -1, .is_preload = true, .is_binding = true });
	errno = kept_errno;
}

/* As in libsonde: AddressSanitizer need not be the first library. */
EXPORT const char *__asan_default_options(void);
EXPORT const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

#else

/* Objects before this one in the loader's list, including preloaded ones, are searched before libc. */
void tracer_start(void)
{
	resolve_from_start();
}

#endif

/* The last of our destructors. */
__attribute__((destructor(101))) static void process_ends(void)
{
	int kept_errno = errno;
	image_finish();
	errno = kept_errno;
}

/*
 * A stand-in for the CUDA driver: cuInit loads the library that CUDA_INJECTION64_PATH
 * names and calls its InitializeInjection, as the driver does; commands are told to
 * CUPTI, if somebody has loaded it.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuInit(unsigned flags);
EXPORT int cuInit(unsigned flags)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*begin)(void) = NULL;
	(void)flags;
	if (library)
		*(void **)(void *)&begin = dlsym(library, "InitializeInjection");
	if (begin)
		begin();
	return 0;
}

EXPORT void fake_call(uint32_t domain, int32_t site, const char *name);
EXPORT void fake_call(uint32_t domain, int32_t site, const char *name)
{
	void *cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
	void (*tell)(uint32_t, int32_t, const char *) = NULL;
	if (cupti)
		*(void **)(void *)&tell = dlsym(cupti, "fake_cupti_call");
	if (tell)
		tell(domain, site, name);
}

EXPORT void fake_command(uint32_t kind, uint32_t what, uint64_t bytes, const char *name);
EXPORT void fake_command(uint32_t kind, uint32_t what, uint64_t bytes, const char *name)
{
	void *cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
	void (*tell)(uint32_t, uint32_t, uint64_t, const char *) = NULL;
	if (cupti)
		*(void **)(void *)&tell = dlsym(cupti, "fake_cupti_record");
	if (tell)
		tell(kind, what, bytes, name);
}

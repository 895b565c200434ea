/*
 * lend: what the runtimes of devices ask the environment for.
 *
 * An OpenCL loader, the CUDA driver and NVTX each load the library that a variable
 * names. The program's environment must show nothing of us, so these variables are in
 * no environment: whoever asks for one by getenv while devices are recorded is told
 * our library, and a user's own value goes first. OPENCL_LAYERS and CUDA's variable are
 * told to their runtimes only; NVTX is compiled into the program that asks.
 */
#include "tracer/env.h"
#include "tracer/resolve.h"
#include "tracer/tracer.h"

#include <link.h>
#include <stdio.h>
#include <unistd.h>

#define LIBRARY "/sonde/libsonde-gpu.so"

static const struct lent {
	const char *name;
	const char *asker; /* part of its file's name; NULL: anybody */
	bool is_list;      /* of several libraries, with colons between */
} lents[] = {
	{ "OPENCL_LAYERS", "libOpenCL", true },
	{ "CUDA_INJECTION64_PATH", "libcuda", false },
	{ "NVTX_INJECTION64_PATH", NULL, false },
};

static char *(*real_getenv)(const char *), *(*real_secure_getenv)(const char *);
static char values[sizeof(lents) / sizeof(*lents)][2 * PATH_BYTES_MAX];

/* The object that code is in: of those that begin below it the highest. */
static bool is_asker(uintptr_t code, const char *asker)
{
	const struct link_map *in = NULL;
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
		if (m->l_addr <= code && (!in || m->l_addr > in->l_addr))
			in = m;
	return !asker || (in && in->l_name && strstr(in->l_name, asker));
}

/* Beside libsonde, in its directory of our own; false: it is not there, say in a container. */
static bool find_library(char *out, size_t size)
{
	const char *slash = strrchr(env_library, '/');
	if (!slash)
		return false;
	int n = snprintf(out, size, "%.*s" LIBRARY, (int)(slash - env_library), env_library);
	return n > 0 && (size_t)n < size && !sys4(SYS_faccessat, -100, out, 4, 0);
}

static char *lend(const struct lent *l, char *theirs)
{
	char ours[PATH_BYTES_MAX + sizeof(LIBRARY)], *value = values[l - lents];
	if ((theirs && *theirs && !l->is_list) || !find_library(ours, sizeof(ours)))
		return theirs;
	if (theirs && (!*theirs || strlen(theirs) >= PATH_BYTES_MAX - 1))
		theirs = NULL;
	/* the same each time, so that two threads that ask write the same */
	snprintf(value, sizeof(values[0]), "%s%s%s", theirs ? theirs : "", theirs ? ":" : "", ours);
	return value;
}

static char *answer(const char *name, char *theirs, const void *asker)
{
	if (!name || (name[0] != 'O' && name[0] != 'C' && name[0] != 'N') || !(tracer.categories & SONDE_CAT_GPU) ||
			tracer.is_dark)
		return theirs;
	for (size_t i = 0; i < sizeof(lents) / sizeof(*lents); i++)
		if (!strcmp(name, lents[i].name) && is_asker((uintptr_t)asker, lents[i].asker))
			return lend(&lents[i], theirs);
	return theirs;
}

/* Before libc's own can be found: what it would do. */
static char *look(const char *name)
{
	size_t len = strlen(name);
	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, name, len) && (*e)[len] == '=')
			return *e + len + 1;
	return NULL;
}

static char *(*find(char *(**at)(const char *), const char *name))(const char *)
{
	char *(*found)(const char *) = __atomic_load_n(at, __ATOMIC_RELAXED);
	if (unlikely(!found)) {
		int kept_errno = errno;
		tracer_init();
		found = (char *(*)(const char *))resolve_next(name);
		if (!found)
			found = look;
		__atomic_store_n(at, found, __ATOMIC_RELEASE);
		errno = kept_errno;
	}
	return found;
}

EXPORT char *getenv(const char *name)
{
	return answer(name, find(&real_getenv, "getenv")(name), __builtin_return_address(0));
}

EXPORT char *secure_getenv(const char *name)
{
	char *theirs = find(&real_secure_getenv, "secure_getenv")(name);
	return answer(name, theirs, __builtin_return_address(0));
}

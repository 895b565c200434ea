/*
 * env-expose: environment variables that make runtimes load our libraries.
 *
 * An OpenCL loader, the CUDA driver and NVTX each load the library that a variable names; Python searches the
 * directories of PYTHONPATH for modules, and `import sonde` has to find ours. The program must not see these
 * variables, so they are not in the environment: getenv returns our file only if the runtime calls it, appended to the
 * user's value. NVTX is compiled into the calling program.
 */
#include "tracer/env.h"
#include "tracer/resolve.h"
#include "tracer/tracer.h"

#include <link.h>
#include <stdio.h>
#include <unistd.h>

#define GPU_LIBRARY "/sonde/libsonde-gpu.so"
#define PYTHON_DIR "/sonde/python"
#define FILE_BYTES_MAX sizeof(GPU_LIBRARY) /* the longer of the two */

static const struct lent {
	const char *name;
	const char *file;    /* in libsonde's directory */
	uint32_t categories; /* one of them must be recorded */
	bool is_list;        /* of several files, separated by colons */
	const char *asker;   /* part of the name of the calling object; NULL: any */
	const char *symbol;  /* a symbol that this object defines; NULL: any */
} lents[] = {
	{ "OPENCL_LAYERS", GPU_LIBRARY, SONDE_CAT_GPU, true, "libOpenCL", NULL },
	{ "CUDA_INJECTION64_PATH", GPU_LIBRARY, SONDE_CAT_GPU, false, "libcuda", NULL },
	{ "NVTX_INJECTION64_PATH", GPU_LIBRARY, SONDE_CAT_GPU, false, NULL, NULL },
	/* The interpreter: the program itself or libpython, never an extension module. */
	{ "PYTHONPATH", PYTHON_DIR, SONDE_CAT_ALL, true, NULL, "Py_BytesMain" },
};

static char *(*real_getenv)(const char *), *(*real_secure_getenv)(const char *);
static char values[sizeof(lents) / sizeof(*lents)][2 * PATH_BYTES_MAX];

/* The object that contains the code: the highest of those that start below it. */
static bool is_asker(uintptr_t code, const struct lent *l)
{
	const struct link_map *in = NULL;
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
		if (m->l_addr <= code && (!in || m->l_addr > in->l_addr))
			in = m;
	if (l->asker && (!in || !in->l_name || !strstr(in->l_name, l->asker)))
		return false;
	return !l->symbol || (in && resolve_defines(in, l->symbol));
}

/* Returns false if it does not exist, as in a container or in a build without Python. */
static bool find_file(const char *file, char *out, size_t size)
{
	const char *slash = strrchr(env_library, '/');
	if (!slash)
		return false;
	int n = snprintf(out, size, "%.*s%s", (int)(slash - env_library), env_library, file);
	return n > 0 && (size_t)n < size && !sys4(SYS_faccessat, -100, out, 4, 0);
}

static char *lend(const struct lent *l, char *theirs)
{
	char ours[PATH_BYTES_MAX + FILE_BYTES_MAX], *value = values[l - lents];
	if ((theirs && *theirs && !l->is_list) || !find_file(l->file, ours, sizeof(ours)))
		return theirs;
	if (theirs && (!*theirs || strlen(theirs) >= PATH_BYTES_MAX - 1))
		theirs = NULL;
	/* always the same value, so concurrent writers are harmless */
	snprintf(value, sizeof(values[0]), "%s%s%s", theirs ? theirs : "", theirs ? ":" : "", ours);
	return value;
}

static char *answer(const char *name, char *theirs, const void *asker)
{
	if (!name || !name[0] || !strchr("OCNP", name[0]) || tracer.is_seccomped)
		return theirs;
	for (size_t i = 0; i < sizeof(lents) / sizeof(*lents); i++)
		if (tracer.categories & lents[i].categories && !strcmp(name, lents[i].name) &&
				is_asker((uintptr_t)asker, &lents[i]))
			return lend(&lents[i], theirs);
	return theirs;
}

/* Replaces libc's getenv if it cannot be resolved yet. */
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

/* Wrappers for the exec family; tracer/exec.c does the work. */
#include "tracer/exec.h"

#include "tracer/hook.h"

#include <unistd.h>

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	return exec_do(&(struct exec){ .form = EXEC_PATH,
			.call = CALL_execve,
			.path = path,
			.argv = argv,
			.envp = envp });
}

EXPORT int execv(const char *path, char *const argv[])
{
	return exec_do(&(struct exec){ .form = EXEC_PATH,
			.call = CALL_execv,
			.path = path,
			.argv = argv,
			.envp = environ });
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return exec_do(&(struct exec){ .form = EXEC_SEARCH,
			.call = CALL_execvp,
			.path = file,
			.argv = argv,
			.envp = environ });
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return exec_do(&(struct exec){ .form = EXEC_SEARCH,
			.call = CALL_execvpe,
			.path = file,
			.argv = argv,
			.envp = envp });
}

EXPORT int execveat(int dirfd, const char *path, char *const argv[], char *const envp[], int flags)
{
	return exec_do(&(struct exec){ .form = EXEC_AT,
			.call = CALL_execveat,
			.dirfd = dirfd,
			.flags = flags,
			.path = path,
			.argv = argv,
			.envp = envp });
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	return exec_do(&(
			struct exec){ .form = EXEC_FD, .call = CALL_fexecve, .dirfd = fd, .argv = argv, .envp = envp });
}

/* Argument lists: up to a NULL, then possibly an environment. On the stack, as in libc. */

static size_t count_list(const char *first, va_list ap)
{
	va_list again;
	size_t n = 1;
	va_copy(again, ap);
	for (const char *arg = first; arg; arg = va_arg(again, const char *))
		n++;
	va_end(again);
	return n;
}

#define EXEC_LIST(name, how, environment) \
	EXPORT int name(const char *path, const char *first, ...) \
	{ \
		va_list ap; \
		va_start(ap, first); \
		size_t n = count_list(first, ap); \
		char **argv = __builtin_alloca(n * sizeof(char *)); \
		argv[0] = (char *)(uintptr_t)first; \
		for (size_t i = 1; i < n; i++) \
			argv[i] = va_arg(ap, char *); \
		struct exec e = { .form = how, .call = CALL_##name, .path = path, .argv = argv }; \
		e.envp = environment; \
		va_end(ap); \
		return exec_do(&e); \
	}
EXEC_LIST(execl, EXEC_PATH, environ)
EXEC_LIST(execlp, EXEC_SEARCH, environ)
EXEC_LIST(execle, EXEC_PATH, va_arg(ap, char *const *))

/*
 * Wrappers for process creation, exec, wait and exit; hook-vfork.c has vfork and clone, hook-syscall.c syscall.
 */
#include "tracer/env.h"
#include "tracer/exec.h"
#include "tracer/hook.h"
#include "tracer/resolve.h"

#include <grp.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <pty.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

static unsigned has_status(pid_t result, const int *status)
{
	return result > 0 && status;
}

static int64_t status_of(pid_t result, const int *status)
{
	return has_status(result, status) ? *status : 0;
}

#include "calls/process.def"

/* Private descriptors are shared with a child from now on. */
static void share_offsets(void)
{
	__atomic_fetch_add(&tracer.share_epoch, 1, __ATOMIC_RELAXED);
}

/* Returns twice; in the child, tracer_wants creates a new ring. */
#define FORK(name) \
	EXPORT pid_t name(void) \
	{ \
		pid_t (*next)(void) = next_function(CALL_##name); \
		share_offsets(); \
		exec_prepare(); \
		uint64_t start = tick(); \
		pid_t result = next(); \
		if (!result) \
			env_swap_forked(); \
		if (tracer_wants(SONDE_CAT_PROCESS)) \
			call_done(CALL_##name, start, result, ERROR_I(result), CALL()); \
		return result; \
	}
FORK(fork)
FORK(__fork)
FORK(_Fork)

/* The parent exits inside this call, the child returns. */
EXPORT int daemon(int nochdir, int noclose)
{
	int (*next)(int, int) = next_function(CALL_daemon);
	struct call *c = CALL(ARGS2(nochdir, noclose));
	share_offsets();
	call_start(SONDE_REC_CALL, CALL_daemon, 0, c);
	tracer_on_exit();
	uint64_t start = tick();
	int result = next(nochdir, noclose);
	tracer_on_exec_failed();
	if (!tracer_wants(SONDE_CAT_ALL))
		return result;
	if (!result && !noclose)
		fds_closed_range(0, 2);
	if (!result && !nochdir)
		fds_chdir();
	call_done_on(CALL_daemon, start, tick(), result, ERROR_I(result), 0, c);
	return result;
}

EXPORT int forkpty(int *master, char *name, const struct termios *termios, const struct winsize *size)
{
	int (*next)(int *, char *, const struct termios *, const struct winsize *) = next_function(CALL_forkpty);
	share_offsets();
	uint64_t start = tick();
	pid_t result = next(master, name, termios, size);
	if (!result)
		env_swap_forked();
	if (!tracer_wants(SONDE_CAT_ALL))
		return result;
	if (result == 0)
		fds_closed_range(0, 2);
	if (result > 0)
		fds_closed(*master);
	call_done(CALL_forkpty, start, result, ERROR_I(result),
			CALL(.fd = result > 0 ? *master : -1, ARGS1(result > 0 ? *master : -1)));
	return result;
}

/* Programs started by libc. */

static int spawn_do(uint16_t id, bool is_searched, pid_t *pid, const char *path,
		const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const argv[],
		char *const envp[])
{
	int (*next)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
			char *const[]) = next_function(id);
	if (!env_has_ours() && !tracer.categories)
		return next(pid, path, actions, attributes, argv, envp);
	size_t found_bytes = is_searched ? exec_find_room(path) : 1;
	char *found = __builtin_alloca(found_bytes);
	struct exec_room room = { 0 };
	char *const *given = envp;
	int error = 0;
	const char *program = !is_searched ? path : exec_find(path, found, found_bytes) ? found : NULL;
	enum sonde_untraced untraced = program ? exec_peek(AT_FDCWD, program, &error) : SONDE_UNTRACED_NO;
	share_offsets();
	if (untraced == SONDE_UNTRACED_NO && env_has_ours()) {
		char **taken = exec_room_take(&room, envp);
		given = taken ? env_inject(envp, taken) : envp;
	}
	uint64_t start = tick();
	int result = next(pid, path, actions, attributes, argv, given);
	exec_room_release(&room);
	if (tracer_wants(SONDE_CAT_PROCESS))
		call_done(id, start, result, result,
				CALL(.path = program, .text = program ? NULL : path,
						ARGS2(!result && pid ? *pid : 0, untraced)));
	return result;
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	return spawn_do(CALL_posix_spawn, false, pid, path, actions, attributes, argv, envp);
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	return spawn_do(CALL_posix_spawnp, true, pid, file, actions, attributes, argv, envp);
}

/*
 * system, popen and wordexp pass `environ` to a shell. The thread may be cancelled there, so a cleanup handler is
 * registered with libc, in the form that needs no code from the compiler's libraries.
 */
struct shell_call {
	struct _pthread_cleanup_buffer cleanup;
	bool is_swapped;
};

static void shell_cancelled(void *unused)
{
	(void)unused;
	env_swap_out();
}

static void shell_begin(struct shell_call *s)
{
	int error;
	s->is_swapped = false;
	if (!env_has_ours())
		return;
	share_offsets();
	s->is_swapped = exec_peek(AT_FDCWD, "/bin/sh", &error) == SONDE_UNTRACED_NO && env_swap_in();
	void (*push)(struct _pthread_cleanup_buffer *, void (*)(void *), void *) = resolve_next(
			"_pthread_cleanup_push");
	if (s->is_swapped && push)
		push(&s->cleanup, shell_cancelled, NULL);
}

static void shell_end(struct shell_call *s)
{
	void (*pop)(struct _pthread_cleanup_buffer *, int) = resolve_next("_pthread_cleanup_pop");
	if (!s->is_swapped)
		return;
	if (pop)
		pop(&s->cleanup, 0);
	env_swap_out();
}

EXPORT int system(const char *command)
{
	int (*next)(const char *) = next_function(CALL_system);
	struct shell_call s;
	shell_begin(&s);
	uint64_t start = tick();
	int result = next(command);
	shell_end(&s);
	if (tracer_wants(SONDE_CAT_PROCESS))
		call_done(CALL_system, start, result, ERROR_I(result), CALL(.text = command));
	return result;
}

EXPORT FILE *popen(const char *command, const char *mode)
{
	FILE *(*next)(const char *, const char *) = next_function(CALL_popen);
	struct shell_call s;
	shell_begin(&s);
	uint64_t start = tick();
	FILE *result = next(command, mode);
	shell_end(&s);
	if (tracer_wants(SONDE_CAT_ALL))
		call_done(CALL_popen, start, RET_F(result), ERROR_F(result),
				CALL(.text = command, .effect = EFFECT_MAKES));
	return result;
}

EXPORT int wordexp(const char *words, wordexp_t *expanded, int flags)
{
	int (*next)(const char *, wordexp_t *, int) = next_function(CALL_wordexp);
	struct shell_call s;
	shell_begin(&s);
	uint64_t start = tick();
	int result = next(words, expanded, flags);
	shell_end(&s);
	if (tracer_wants(SONDE_CAT_LIBC))
		call_done(CALL_wordexp, start, result, 0, CALL(.text = words, ARGS1(flags)));
	return result;
}

/* Exit, after which no event is recorded. */

#define BEFORE_END(name) \
	BEFORE before_##name(int status) \
	{ \
		void *next = next_function(CALL_##name); \
		call_start(SONDE_REC_CALL, CALL_##name, 0, CALL(ARGS1(status))); \
		tracer_on_exit(); \
		return next; \
	}
BEFORE_END(_exit)
BEFORE_END(_Exit)
BEFORE_END(quick_exit)

/*
 * A return from main exits like exit(), but without a call that can be hooked before the libraries' destructors run;
 * libc flushes its streams after them.
 */
static bool has_called_exit STATE;

BEFORE before_exit(int status)
{
	void *next = next_function(CALL_exit);
	has_called_exit = true;
	call_start(SONDE_REC_CALL, CALL_exit, 0, CALL(ARGS1(status)));
	return next;
}

__attribute__((destructor)) static void main_has_returned(void)
{
	if (!has_called_exit)
		call_start(SONDE_REC_CALL, CALL_exit, 0, CALL());
}

BEFORE before_abort(void)
{
	void *next = next_function(CALL_abort);
	call_start(SONDE_REC_CALL, CALL_abort, 0, CALL());
	tracer_on_exit();
	return next;
}

/* Seccomp and privilege changes. */

/* Strict seccomp and PR_TSC_SIGSEGV disable the time stamp counter: reading it from then on kills the process. */
static bool takes_the_clock(int option, unsigned long how)
{
	return (option == PR_SET_SECCOMP && how == SECCOMP_MODE_STRICT) ||
			(option == PR_SET_TSC && how == PR_TSC_SIGSEGV);
}

EXPORT int prctl(int option, ...)
{
	int (*next)(int, unsigned long, unsigned long, unsigned long, unsigned long) = next_function(CALL_prctl);
	unsigned long args[4];
	va_list ap;
	va_start(ap, option);
	for (unsigned i = 0; i < 4; i++)
		args[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (takes_the_clock(option, args[0])) {
		call_start(SONDE_REC_CALL, CALL_prctl, 0, CALL(ARGS2(option, args[0])));
		tracer_stop();
		return next(option, args[0], args[1], args[2], args[3]);
	}
	if (option == PR_SET_SECCOMP)
		exec_is_filtered = true;
	if (option == PR_SET_SECCOMP || (option == PR_SET_NO_NEW_PRIVS && args[0]))
		ring_before_seccomp();
	if (!tracer_wants(SONDE_CAT_PROCESS))
		return next(option, args[0], args[1], args[2], args[3]);
	uint64_t start = tick();
	int result = next(option, args[0], args[1], args[2], args[3]);
	call_done(CALL_prctl, start, result, ERROR_I(result), CALL(ARGS2(option, args[0])));
	return result;
}

/* Wrappers for the exec family; tracer/exec.c does the work. */

#define EXEC(name, parameters, ...) \
	EXPORT int name parameters \
	{ \
		struct exec e = { .call = CALL_##name, __VA_ARGS__ }; \
		return exec_do(&e); \
	}
EXEC(execve, (const char *path, char *const argv[], char *const envp[]), .form = EXEC_PATH, .path = path, .argv = argv,
		.envp = envp)
EXEC(execv, (const char *path, char *const argv[]), .form = EXEC_PATH, .path = path, .argv = argv, .envp = environ)
EXEC(execvp, (const char *file, char *const argv[]), .form = EXEC_SEARCH, .path = file, .argv = argv, .envp = environ)
EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]), .form = EXEC_SEARCH, .path = file,
		.argv = argv, .envp = envp)
EXEC(execveat, (int dirfd, const char *path, char *const argv[], char *const envp[], int flags), .form = EXEC_AT,
		.dirfd = dirfd, .flags = flags, .path = path, .argv = argv, .envp = envp)
EXEC(fexecve, (int fd, char *const argv[], char *const envp[]), .form = EXEC_FD, .dirfd = fd, .argv = argv,
		.envp = envp)

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

/* Inspects programs before they are executed, and executes them; see exec.h. */
#include "tracer/exec.h"

#include "tracer/env.h"
#include "tracer/hook.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define HEAD_BYTES 1024       /* of a file: the ELF headers and usually the interpreter's name */
#define INTERPRETER_BYTES 256 /* the kernel's limit for a #! line */
#define SCRIPT_DEPTH 5
#define ARGS_SHOWN 6 /* of an exec, as DFTracer does */
#define ARG_BYTES 256
#define LIST_BYTES ((ARGS_SHOWN + 1) * ARG_BYTES)

bool exec_is_filtered STATE;

/* Inspection. */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool is_loader(const char *path)
{
	return !strncmp(base_name(path), "ld-linux", 8);
}

/* Can a child load libsonde and reach the ring? Not after chroot, nor as another user. */
static bool is_reachable(void)
{
	if (!env_has_ours())
		return true; /* children use the program's own environment */
	return !sys3(SYS_faccessat, AT_FDCWD, env_library, R_OK) &&
			!sys3(SYS_faccessat, AT_FDCWD, tracer.ring_dir, W_OK | X_OK);
}

/* Would the loader ignore LD_PRELOAD? The kernel's rule for secure mode, with the credentials after the exec. */
static bool is_secure(int fd, const struct stat *st)
{
	uid_t uid, euid, suid;
	gid_t gid, egid, sgid;
	struct statfs fs;
	if (sys3(SYS_getresuid, &uid, &euid, &suid) || sys3(SYS_getresgid, &gid, &egid, &sgid))
		return false;
	uid_t new_euid = st->st_mode & S_ISUID ? st->st_uid : euid;
	gid_t new_egid = (st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) ? st->st_gid : egid;
	if ((new_euid != euid || new_egid != egid) &&
			(sys2(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0) == 1 ||
					(!sys2(SYS_fstatfs, fd, &fs) && (fs.f_flags & ST_NOSUID)))) {
		new_euid = euid;
		new_egid = egid;
	}
	if (new_euid != uid || new_egid != gid)
		return true;
	return uid != 0 && sys4(SYS_fgetxattr, fd, "security.capability", NULL, 0) > 0;
}

/* Read the interpreter that a program header names into `out`. */
static bool read_interpreter(int fd, const char *head, size_t n, const Elf64_Phdr *p, char *out)
{
	size_t len = p->p_filesz < INTERPRETER_BYTES ? p->p_filesz : INTERPRETER_BYTES - 1;
	if (p->p_offset <= n && len <= n - p->p_offset)
		memcpy(out, head + p->p_offset, len);
	else if (sys4(SYS_pread64, fd, out, len, p->p_offset) != (long)len)
		return false;
	out[len] = '\0';
	return true;
}

static enum sonde_untraced judge_elf(int fd, const char *head, size_t n, const char *path)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;
	char interpreter[INTERPRETER_BYTES];
	if (n < sizeof(e))
		return SONDE_UNTRACED_NO;
	memcpy(&e, head, sizeof(e));
	if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_machine != EM_X86_64)
		return SONDE_UNTRACED_FOREIGN;
	for (unsigned i = 0; i < e.e_phnum; i++) {
		size_t at = e.e_phoff + i * sizeof(p);
		if (at > n || sizeof(p) > n - at)
			return SONDE_UNTRACED_NO; /* headers at an unusual offset */
		memcpy(&p, head + at, sizeof(p));
		if (p.p_type == PT_INTERP)
			return !read_interpreter(fd, head, n, &p, interpreter) || is_loader(interpreter)
					? SONDE_UNTRACED_NO
					: SONDE_UNTRACED_FOREIGN;
	}
	return is_loader(path) ? SONDE_UNTRACED_NO : SONDE_UNTRACED_STATIC;
}

/* Read the program of a #! line into `out`; false if there is none. */
static bool script_interpreter(const char *head, size_t n, char *out)
{
	size_t from = 2, len = 0;
	if (n < 3 || head[0] != '#' || head[1] != '!')
		return false;
	while (from < n && (head[from] == ' ' || head[from] == '\t'))
		from++;
	while (from + len < n && len < INTERPRETER_BYTES - 1 && !strchr(" \t\n", head[from + len]))
		len++;
	memcpy(out, head + from, len);
	out[len] = '\0';
	return len > 0;
}

/* One file; SCRIPT means: check `interpreter` instead. */
enum { SCRIPT = -1 };

static int judge(int fd, const char *path, char *interpreter)
{
	char head[HEAD_BYTES];
	struct stat st;
	long n = sys4(SYS_pread64, fd, head, sizeof(head), 0);
	if (n < 4)
		return SONDE_UNTRACED_NO;
	if (script_interpreter(head, (size_t)n, interpreter))
		return SCRIPT;
	if (memcmp(head, ELFMAG, SELFMAG))
		return SONDE_UNTRACED_NO; /* a shell script without #!, or a binfmt_misc format */
	enum sonde_untraced untraced = judge_elf(fd, head, (size_t)n, path);
	if (untraced == SONDE_UNTRACED_NO && !sys2(SYS_fstat, fd, &st) && is_secure(fd, &st))
		return SONDE_UNTRACED_SETUID;
	return untraced;
}

/* Regular files only: opening others may block or have side effects. */
static int open_program(int dirfd, const char *path)
{
	struct stat st;
	long error = sys4(SYS_newfstatat, dirfd, path, &st, 0);
	if (error)
		return (int)error;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return (int)sys4(SYS_openat, dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
}

enum sonde_untraced exec_peek(int dirfd, const char *path, int *error)
{
	char interpreter[INTERPRETER_BYTES];
	*error = 0;
	if (exec_is_filtered)
		return SONDE_UNTRACED_SECCOMP;
	int fd = path ? open_program(dirfd, path) : dirfd;
	if (fd < 0) {
		*error = -fd;
		return is_reachable() ? SONDE_UNTRACED_NO : SONDE_UNTRACED_UNREACHABLE;
	}
	int verdict = judge(fd, path ? path : "", interpreter);
	if (path)
		sys_close(fd);
	for (int depth = 1; verdict == SCRIPT && depth < SCRIPT_DEPTH; depth++) {
		fd = open_program(AT_FDCWD, interpreter);
		if (fd < 0)
			break;
		verdict = judge(fd, interpreter, interpreter);
		sys_close(fd);
	}
	if (verdict == SCRIPT || verdict == SONDE_UNTRACED_NO)
		return is_reachable() ? SONDE_UNTRACED_NO : SONDE_UNTRACED_UNREACHABLE;
	return (enum sonde_untraced)verdict;
}

static const char *search_path(void)
{
	const char *dirs = getenv("PATH");
	return dirs ? dirs : "/bin:/usr/bin";
}

size_t exec_find_room(const char *file)
{
	size_t n = strlen(file) + strlen(search_path()) + 2;
	return n < PATH_BYTES_MAX ? n : PATH_BYTES_MAX;
}

bool exec_find(const char *file, char *path, size_t bytes)
{
	struct stat st;
	if (strchr(file, '/')) {
		snprintf(path, bytes, "%s", file);
		return true;
	}
	for (const char *dirs = search_path(); *file; dirs++) {
		const char *end = strchrnul(dirs, ':');
		int n = snprintf(path, bytes, "%.*s%s%s", (int)(end - dirs), dirs, end > dirs ? "/" : "", file);
		if (n > 0 && (size_t)n < bytes && !sys3(SYS_faccessat, AT_FDCWD, path, X_OK) &&
				!sys4(SYS_newfstatat, AT_FDCWD, path, &st, 0) && S_ISREG(st.st_mode))
			return true;
		dirs = end;
		if (!*dirs)
			break;
	}
	return false;
}

/* Room for an environment. */

static _Thread_local struct {
	char **at;
	size_t bytes;
} left_behind __attribute__((tls_model("initial-exec"))); /* by a vfork child that executed a program */

char **exec_room_take(struct exec_room *room, char *const envp[])
{
	size_t n = env_room(envp);
	room->bytes = 0;
	room->at = room->stack;
	if (n > EXEC_ROOM) {
		room->bytes = n * sizeof(char *);
		room->at = sys_map(room->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	}
	if (room->bytes && thread.vfork_pid) {
		left_behind.at = room->at;
		left_behind.bytes = room->bytes;
	}
	return room->at;
}

void exec_room_release(struct exec_room *room)
{
	if (room->bytes && room->at)
		sys2(SYS_munmap, room->at, room->bytes);
	left_behind.at = NULL;
}

void exec_vfork_ended(void)
{
	if (left_behind.at && !tracer.is_seccomped)
		sys2(SYS_munmap, left_behind.at, left_behind.bytes);
	left_behind.at = NULL;
}

/* Execution. */

static int next_exec(const struct exec *e, char *const envp[])
{
	switch (e->form) {
	case EXEC_SEARCH:
		return REAL(execvpe)(e->path, e->argv, envp);
	case EXEC_AT:
		return REAL(execveat)(e->dirfd, e->path, e->argv, envp, e->flags);
	case EXEC_FD:
		return REAL(fexecve)(e->dirfd, e->argv, envp);
	default:
		return REAL(execve)(e->path, e->argv, envp);
	}
}

void exec_prepare(void)
{
	next_function(CALL_execve);
	next_function(CALL_execvpe);
}

static bool is_bare(const struct exec *e)
{
	return e->form == EXEC_SEARCH && e->path && !strchr(e->path, '/');
}

/*
 * For libdftracer: the program and its first arguments, NUL-terminated each. A recorder gets them from the new
 * process.
 */
static size_t list_args(const struct exec *e, char list[LIST_BYTES])
{
	const char *argv[ARGS_SHOWN] = { NULL };
	size_t used = 0;
	if (!tracer.ops || tracer.is_seccomped || !tracer_wants(SONDE_CAT_PROCESS))
		return 0;
	size_t count = e->argv ? copy_doubtful(argv, e->argv, sizeof(argv)) / sizeof(*argv) : 0;
	for (size_t i = 0; i <= count; i++) {
		const char *from = i ? argv[i - 1] : e->path;
		size_t n = from ? copy_doubtful(list + used, from, ARG_BYTES - 1) : 0;
		if (i && !from)
			break;
		used += strnlen(list + used, n);
		list[used++] = '\0';
	}
	return used;
}

/* The last record of this program, unless the exec fails. */
static enum sonde_untraced announce(const struct exec *e, int *error)
{
	char list[LIST_BYTES];
	const char *path = e->path;
	*error = ENOENT;
	if (is_bare(e)) {
		size_t n = exec_find_room(path);
		char *found = __builtin_alloca(n);
		path = exec_find(path, found, n) ? found : NULL;
	}
	if (e->form == EXEC_SEARCH && !path)
		return SONDE_UNTRACED_NO; /* it will fail */
	bool is_fd = e->form == EXEC_FD || (e->form == EXEC_AT && path && !*path && (e->flags & AT_EMPTY_PATH));
	int dirfd = e->form == EXEC_AT ? e->dirfd : AT_FDCWD;
	enum sonde_untraced untraced = exec_peek(is_fd ? e->dirfd : dirfd, is_fd ? NULL : path, error);
	size_t bytes = list_args(e, list);
	call_start(SONDE_REC_EXEC, (uint16_t)e->call, untraced ? SONDE_CALL_UNTRACED : 0,
			CALL(.dirfd = dirfd, .path = is_fd ? NULL : path, .path_error = *error,
					.fd = is_fd ? e->dirfd : -1, .text = bytes ? list : NULL, .text_bytes = bytes,
					ARGS1(untraced)));
	return untraced;
}

static void record_failure(const struct exec *e, uint64_t start, int errnum)
{
	bool is_name = is_bare(e);
	char list[LIST_BYTES];
	size_t bytes = list_args(e, list);
	if (tracer_wants(SONDE_CAT_PROCESS))
		call_done((uint16_t)e->call, start, -1, errnum,
				CALL(.dirfd = e->form == EXEC_AT ? e->dirfd : AT_FDCWD,
						.fd = e->form == EXEC_FD ? e->dirfd : -1,
						.path = is_name ? NULL : e->path,
						.text = bytes             ? list
								: is_name ? e->path
									  : NULL,
						.text_bytes = bytes));
}

int exec_do(const struct exec *e)
{
	if (!env_has_ours() && !tracer.categories)
		return next_exec(e, e->envp);
	struct exec_room room = { 0 };
	uint64_t start = tick();
	char *const *envp = e->envp;
	int error;
	if (announce(e, &error) == SONDE_UNTRACED_NO && env_has_ours()) {
		char **taken = exec_room_take(&room, e->envp);
		envp = taken ? env_inject(e->envp, taken) : e->envp;
	}
	if (!error)
		tracer_on_exit();
	int result = next_exec(e, envp);
	if (!error)
		tracer_on_exec_failed();
	exec_room_release(&room);
	record_failure(e, start, errno);
	return result;
}

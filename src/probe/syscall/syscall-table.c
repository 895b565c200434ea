/* See syscall-table.h. Call numbers are x86-64's. */
#include "probe/syscall/syscall-table.h"

#include "calls/calls.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>

#define SYSCALL(kernel_name, name, letters, effect) [SYS_##kernel_name] = { #name, letters, SYSCALL_##effect, 0 },
/* Not recorded, but its effect is known. */
#define SYSNAME(kernel_name, name, letters, effect) [SYS_##kernel_name] = { NULL, NULL, SYSCALL_##effect, 0 },

const struct syscall_row syscall_rows[SYSCALLS_MAX] = {
#ifdef __x86_64__
#include "calls/calls-each.h"
#else
	[0] = { NULL, NULL, SYSCALL_NOTHING, 0 },
#endif
};

#ifdef __x86_64__
/* Calls that libc implements with others: open and the stat family. */
static const struct syscall_row as_open = { "open", "-pFm", SYSCALL_OPENS, 1 };
static const struct syscall_row as_stat = { "stat", "-p", SYSCALL_NOTHING, 1 };
static const struct syscall_row as_lstat = { "lstat", "-p", SYSCALL_NOTHING, 2 };
static const struct syscall_row as_fstat = { "fstat", "f", SYSCALL_NOTHING, 3 };
static const struct syscall_row as_futimens = { "futimens", "f", SYSCALL_NOTHING, 1 };

static const struct syscall_row fcntl_number = { "fcntl", "faa", SYSCALL_NOTHING, 0 };
static const struct syscall_row fcntl_dup = { "fcntl", "faa", SYSCALL_DUPS, 0 };
static const struct syscall_row fcntl_flags = { "fcntl", "faa", SYSCALL_SHARES, 0 };

/* The type of its argument depends on the command. */
static const struct syscall_row *fcntl_row(int command)
{
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return &fcntl_dup;
	case F_SETFL:
		return &fcntl_flags;
	case F_SETFD:
	case F_SETOWN:
	case F_SETSIG:
	case F_SETLEASE:
	case F_NOTIFY:
	case F_SETPIPE_SZ:
	case F_ADD_SEALS:
		return &fcntl_number;
	default:
		return &syscall_rows[SYS_fcntl];
	}
}

static const struct syscall_row *stat_row(const uint64_t args[6], bool has_empty_path)
{
	if (has_empty_path && args[3] & AT_EMPTY_PATH)
		return &as_fstat;
	if ((int)args[0] == AT_FDCWD && !args[3])
		return &as_stat;
	if ((int)args[0] == AT_FDCWD && args[3] == AT_SYMLINK_NOFOLLOW)
		return &as_lstat;
	return &syscall_rows[SYS_newfstatat];
}
#endif

const struct syscall_row *syscall_row_of(int64_t number, const uint64_t args[6], bool has_empty_path)
{
	if (number < 0 || number >= SYSCALLS_MAX || !syscall_rows[number].name)
		return NULL;
#ifdef __x86_64__
	if (number == SYS_openat && (int)args[0] == AT_FDCWD)
		return &as_open;
	if (number == SYS_newfstatat)
		return stat_row(args, has_empty_path);
	if (number == SYS_fcntl)
		return fcntl_row((int)args[1]);
	if (number == SYS_utimensat && !args[1])
		return &as_futimens;
#else
	(void)args, (void)has_empty_path;
#endif
	return &syscall_rows[number];
}

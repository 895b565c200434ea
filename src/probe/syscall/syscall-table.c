/* The table; see syscall-table.h. Numbers are x86-64's. */
#include "probe/syscall/syscall-table.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>

#define AT(number, name, letters) [number] = { name, letters, SYSCALL_NOTHING, false, 0 }
#define DOES(number, name, letters, effect) [number] = { name, letters, SYSCALL_##effect, false, 0 }

const struct syscall_row syscall_rows[SYSCALLS_MAX] = {
#ifdef __x86_64__
	DOES(SYS_read, "read", "f-s", MOVES),
	DOES(SYS_write, "write", "f-s", MOVES),
	DOES(SYS_readv, "readv", "fva", MOVES),
	DOES(SYS_writev, "writev", "fva", MOVES),
	AT(SYS_pread64, "pread", "f-so"),
	AT(SYS_pwrite64, "pwrite", "f-so"),
	AT(SYS_preadv, "preadv", "fvao"),
	AT(SYS_pwritev, "pwritev", "fvao"),
	DOES(SYS_lseek, "lseek", "foa", SEEKS),
	AT(SYS_preadv2, "preadv2", "fvao-a"),
	AT(SYS_pwritev2, "pwritev2", "fvao-a"),
	DOES(SYS_sendfile, "sendfile", "af-s", COPIES),
	DOES(SYS_copy_file_range, "copy_file_range", "f-aNsa", COPIES),
	DOES(SYS_splice, "splice", "f-aNsa", COPIES),
	AT(SYS_readahead, "readahead", "fos"),
	[SYS_fadvise64] = { "posix_fadvise", "fosa", SYSCALL_NOTHING, true, 0 },
	AT(SYS_fallocate, "fallocate", "faos"),
	AT(SYS_ftruncate, "ftruncate", "fs"),
	AT(SYS_truncate, "truncate", "ps"),

	DOES(SYS_open, "open", "pFm", OPENS),
	DOES(SYS_openat, "openat", "dpFm", OPENS),
	DOES(SYS_creat, "creat", "pa", OPENS),
	DOES(SYS_close, "close", "f", CLOSES),
	DOES(SYS_dup, "dup", "f", DUPS),
	DOES(SYS_dup2, "dup2", "fa", DUPS),
	DOES(SYS_dup3, "dup3", "faa", DUPS),
	AT(SYS_fcntl, "fcntl", "fa"),
	DOES(SYS_close_range, "close_range", "aaa", CLOSES_RANGE),
	DOES(SYS_memfd_create, "memfd_create", "ta", MAKES),
	DOES(SYS_eventfd2, "eventfd", "aa", MAKES),
	DOES(SYS_timerfd_create, "timerfd_create", "aa", MAKES),
	DOES(SYS_epoll_create1, "epoll_create1", "a", MAKES),
	DOES(SYS_inotify_init1, "inotify_init1", "a", MAKES),

	AT(SYS_stat, "stat", "p"),
	AT(SYS_lstat, "lstat", "p"),
	AT(SYS_fstat, "fstat", "f"),
	AT(SYS_newfstatat, "fstatat", "dp-a"),
	AT(SYS_statx, "statx", "dpaa"),
	AT(SYS_statfs, "statfs", "p"),
	AT(SYS_fstatfs, "fstatfs", "f"),
	AT(SYS_access, "access", "pa"),
	AT(SYS_faccessat, "faccessat", "dpa"),
	AT(SYS_faccessat2, "faccessat", "dpaa"),
	AT(SYS_chmod, "chmod", "pa"),
	AT(SYS_fchmod, "fchmod", "fa"),
	AT(SYS_fchmodat, "fchmodat", "dpa"),
	AT(SYS_chown, "chown", "paa"),
	AT(SYS_lchown, "lchown", "paa"),
	AT(SYS_fchown, "fchown", "faa"),
	AT(SYS_fchownat, "fchownat", "dpaaa"),
	AT(SYS_utimensat, "utimensat", "dp-a"),
	AT(SYS_link, "link", "pP"),
	AT(SYS_linkat, "linkat", "dpDPa"),
	AT(SYS_rename, "rename", "pP"),
	AT(SYS_renameat, "renameat", "dpDP"),
	AT(SYS_renameat2, "renameat2", "dpDPa"),
	AT(SYS_symlink, "symlink", "tp"),
	AT(SYS_symlinkat, "symlinkat", "tdp"),
	AT(SYS_unlink, "unlink", "p"),
	AT(SYS_unlinkat, "unlinkat", "dpa"),
	AT(SYS_readlink, "readlink", "p-s"),
	AT(SYS_readlinkat, "readlinkat", "dp-s"),
	AT(SYS_mknod, "mknod", "paA"),
	AT(SYS_mknodat, "mknodat", "dpaA"),
	AT(SYS_flock, "flock", "fa"),
	AT(SYS_getxattr, "getxattr", "pt-s"),
	AT(SYS_lgetxattr, "lgetxattr", "pt-s"),
	AT(SYS_fgetxattr, "fgetxattr", "ft-s"),
	AT(SYS_setxattr, "setxattr", "pt-sa"),
	AT(SYS_fsetxattr, "fsetxattr", "ft-sa"),
	AT(SYS_listxattr, "listxattr", "p-s"),
	AT(SYS_flistxattr, "flistxattr", "f-s"),
	AT(SYS_removexattr, "removexattr", "pt"),

	AT(SYS_mkdir, "mkdir", "pa"),
	AT(SYS_mkdirat, "mkdirat", "dpa"),
	AT(SYS_rmdir, "rmdir", "p"),
	AT(SYS_getdents64, "getdents64", "f-s"),
	DOES(SYS_chdir, "chdir", "p", CHDIRS),
	DOES(SYS_fchdir, "fchdir", "f", CHDIRS),

	AT(SYS_fsync, "fsync", "f"),
	AT(SYS_fdatasync, "fdatasync", "f"),
	AT(SYS_sync, "sync", ""),
	AT(SYS_syncfs, "syncfs", "f"),
	AT(SYS_sync_file_range, "sync_file_range", "fosa"),

	DOES(SYS_mmap, "mmap", "Asaafo", MAPS),
	DOES(SYS_munmap, "munmap", "As", UNMAPS),
	AT(SYS_ioctl, "ioctl", "fA"),

	DOES(SYS_pipe2, "pipe2", "-a", PAIRS),
	DOES(SYS_pipe, "pipe", "-", PAIRS),
	DOES(SYS_socketpair, "socketpair", "aaa-", PAIRS),
	DOES(SYS_socket, "socket", "aaa", MAKES),
	AT(SYS_connect, "connect", "fn"),
	AT(SYS_bind, "bind", "fn"),
	AT(SYS_listen, "listen", "fa"),
	DOES(SYS_accept, "accept", "a--", MAKES),
	DOES(SYS_accept4, "accept4", "a--a", MAKES),
	AT(SYS_shutdown, "shutdown", "fa"),
	AT(SYS_sendto, "sendto", "f-sa"),
	AT(SYS_recvfrom, "recvfrom", "f-sa"),
	AT(SYS_sendmsg, "sendmsg", "f-a"),
	AT(SYS_recvmsg, "recvmsg", "f-a"),
	AT(SYS_getsockopt, "getsockopt", "faa"),
	AT(SYS_setsockopt, "setsockopt", "faa"),
#else
	[0] = { NULL, NULL, SYSCALL_NOTHING, false, 0 },
#endif
};

#ifdef __x86_64__
/* Calls that libc makes of others: open and the stat family. */
static const struct syscall_row as_open = { "open", "-pFm", SYSCALL_OPENS, false, 1 };
static const struct syscall_row as_stat = { "stat", "-p", SYSCALL_NOTHING, false, 1 };
static const struct syscall_row as_lstat = { "lstat", "-p", SYSCALL_NOTHING, false, 2 };
static const struct syscall_row as_fstat = { "fstat", "f", SYSCALL_NOTHING, false, 3 };
static const struct syscall_row as_futimens = { "futimens", "f", SYSCALL_NOTHING, false, 1 };

static const struct syscall_row fcntl_number = { "fcntl", "faa", SYSCALL_NOTHING, false, 0 };
static const struct syscall_row fcntl_dup = { "fcntl", "faa", SYSCALL_DUPS, false, 0 };
static const struct syscall_row fcntl_flags = { "fcntl", "faa", SYSCALL_SHARES, false, 0 };

/* What its argument is depends on the command. */
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

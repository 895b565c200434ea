/* Arguments and categories of system calls; see strace-calls.h. */
#include "exchange/strace-calls.h"

#include "pfw/pfw-category.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct strace_shape shapes[] = { /* sorted by name */
	/* name              fd  dir path dir2 path2 size offset */
	{ "accept",           0, -1, -1, -1, -1, -1, -1 }, { "accept4",         0, -1, -1, -1, -1, -1, -1 },
	{ "access",          -1, -1,  0, -1, -1, -1, -1 }, { "bind",            0, -1, -1, -1, -1, -1, -1 },
	{ "chdir",           -1, -1,  0, -1, -1, -1, -1 }, { "chmod",          -1, -1,  0, -1, -1, -1, -1 },
	{ "chown",           -1, -1,  0, -1, -1, -1, -1 }, { "close",           0, -1, -1, -1, -1, -1, -1 },
	{ "connect",          0, -1, -1, -1, -1, -1, -1 }, { "copy_file_range", 2, -1, -1, -1, -1,  4, -1 },
	{ "creat",           -1, -1,  0, -1, -1, -1, -1 }, { "dup",             0, -1, -1, -1, -1, -1, -1 },
	{ "dup2",             0, -1, -1, -1, -1, -1, -1 }, { "dup3",            0, -1, -1, -1, -1, -1, -1 },
	{ "epoll_ctl",        0, -1, -1, -1, -1, -1, -1 }, { "epoll_pwait",     0, -1, -1, -1, -1, -1, -1 },
	{ "epoll_wait",       0, -1, -1, -1, -1, -1, -1 }, { "execve",         -1, -1,  0, -1, -1, -1, -1 },
	{ "execveat",        -1,  0,  1, -1, -1, -1, -1 }, { "faccessat",      -1,  0,  1, -1, -1, -1, -1 },
	{ "faccessat2",      -1,  0,  1, -1, -1, -1, -1 }, { "fadvise64",       0, -1, -1, -1, -1,  2,  1 },
	{ "fallocate",        0, -1, -1, -1, -1,  3,  2 }, { "fchdir",          0, -1, -1, -1, -1, -1, -1 },
	{ "fchmod",           0, -1, -1, -1, -1, -1, -1 }, { "fchmodat",       -1,  0,  1, -1, -1, -1, -1 },
	{ "fchown",           0, -1, -1, -1, -1, -1, -1 }, { "fchownat",       -1,  0,  1, -1, -1, -1, -1 },
	{ "fcntl",            0, -1, -1, -1, -1, -1, -1 }, { "fdatasync",       0, -1, -1, -1, -1, -1, -1 },
	{ "fgetxattr",        0, -1, -1, -1, -1, -1, -1 }, { "flock",           0, -1, -1, -1, -1, -1, -1 },
	{ "fstat",            0, -1, -1, -1, -1, -1, -1 }, { "fstatfs",         0, -1, -1, -1, -1, -1, -1 },
	{ "fsync",            0, -1, -1, -1, -1, -1, -1 }, { "ftruncate",       0, -1, -1, -1, -1,  1, -1 },
	{ "getdents64",       0, -1, -1, -1, -1,  2, -1 }, { "getsockopt",      0, -1, -1, -1, -1, -1, -1 },
	{ "getxattr",        -1, -1,  0, -1, -1, -1, -1 }, { "ioctl",           0, -1, -1, -1, -1, -1, -1 },
	{ "lchown",          -1, -1,  0, -1, -1, -1, -1 }, { "link",           -1, -1,  0, -1,  1, -1, -1 },
	{ "linkat",          -1,  0,  1,  2,  3, -1, -1 }, { "listen",          0, -1, -1, -1, -1, -1, -1 },
	{ "lseek",            0, -1, -1, -1, -1, -1, -1 }, { "lstat",          -1, -1,  0, -1, -1, -1, -1 },
	{ "mkdir",           -1, -1,  0, -1, -1, -1, -1 }, { "mkdirat",        -1,  0,  1, -1, -1, -1, -1 },
	{ "mknod",           -1, -1,  0, -1, -1, -1, -1 }, { "mknodat",        -1,  0,  1, -1, -1, -1, -1 },
	{ "mmap",             4, -1, -1, -1, -1,  1,  5 }, { "munmap",         -1, -1, -1, -1, -1,  1, -1 },
	{ "newfstatat",      -1,  0,  1, -1, -1, -1, -1 }, { "open",           -1, -1,  0, -1, -1, -1, -1 },
	{ "openat",          -1,  0,  1, -1, -1, -1, -1 }, { "openat2",        -1,  0,  1, -1, -1, -1, -1 },
	{ "pread64",          0, -1, -1, -1, -1,  2,  3 }, { "preadv",          0, -1, -1, -1, -1, -1,  3 },
	{ "preadv2",          0, -1, -1, -1, -1, -1,  3 }, { "pwrite64",        0, -1, -1, -1, -1,  2,  3 },
	{ "pwritev",          0, -1, -1, -1, -1, -1,  3 }, { "pwritev2",        0, -1, -1, -1, -1, -1,  3 },
	{ "read",             0, -1, -1, -1, -1,  2, -1 }, { "readahead",       0, -1, -1, -1, -1,  2,  1 },
	{ "readlink",        -1, -1,  0, -1, -1, -1, -1 }, { "readlinkat",     -1,  0,  1, -1, -1, -1, -1 },
	{ "readv",            0, -1, -1, -1, -1, -1, -1 }, { "recvfrom",        0, -1, -1, -1, -1,  2, -1 },
	{ "recvmsg",          0, -1, -1, -1, -1, -1, -1 }, { "rename",         -1, -1,  0, -1,  1, -1, -1 },
	{ "renameat",        -1,  0,  1,  2,  3, -1, -1 }, { "renameat2",      -1,  0,  1,  2,  3, -1, -1 },
	{ "rmdir",           -1, -1,  0, -1, -1, -1, -1 }, { "sendfile",        0, -1, -1, -1, -1,  3, -1 },
	{ "sendmsg",          0, -1, -1, -1, -1, -1, -1 }, { "sendto",          0, -1, -1, -1, -1,  2, -1 },
	{ "setsockopt",       0, -1, -1, -1, -1, -1, -1 }, { "shutdown",        0, -1, -1, -1, -1, -1, -1 },
	{ "splice",           0, -1, -1, -1, -1,  4, -1 }, { "stat",           -1, -1,  0, -1, -1, -1, -1 },
	{ "statfs",          -1, -1,  0, -1, -1, -1, -1 }, { "statx",          -1,  0,  1, -1, -1, -1, -1 },
	{ "symlink",         -1, -1,  1, -1, -1, -1, -1 }, { "symlinkat",      -1,  1,  2, -1, -1, -1, -1 },
	{ "sync_file_range",  0, -1, -1, -1, -1,  2,  1 }, { "syncfs",          0, -1, -1, -1, -1, -1, -1 },
	{ "truncate",        -1, -1,  0, -1, -1,  1, -1 }, { "unlink",         -1, -1,  0, -1, -1, -1, -1 },
	{ "unlinkat",        -1,  0,  1, -1, -1, -1, -1 }, { "utimensat",      -1,  0,  1, -1, -1, -1, -1 },
	{ "write",            0, -1, -1, -1, -1,  2, -1 }, { "writev",          0, -1, -1, -1, -1, -1, -1 },
};

/* What pfw-category.h does not know, by the beginning of the name. */
static const struct {
	const char *start, *category;
} categories[] = {
	{ "getdents", "dir" }, { "socket", "net" }, { "connect", "net" }, { "accept", "net" }, { "bind", "net" },
	{ "listen", "net" }, { "send", "net" }, { "recv", "net" }, { "shutdown", "net" }, { "getsock", "net" },
	{ "setsock", "net" }, { "getpeer", "net" }, { "poll", "net" }, { "ppoll", "net" }, { "select", "net" },
	{ "pselect", "net" }, { "epoll", "net" }, { "eventfd", "net" }, { "io_", "aio" }, { "clone", "process" },
	{ "kill", "process" }, { "tgkill", "process" }, { "prlimit", "process" }, { "prctl", "process" },
	{ "arch_prctl", "process" }, { "set_tid", "process" }, { "set_robust", "process" }, { "rseq", "process" },
	{ "sched_", "process" }, { "futex", "process" }, { "nanosleep", "process" }, { "clock_", "process" },
	{ "get", "process" }, { "set", "process" }, { "rt_sig", "process" }, { "sigaltstack", "process" },
	{ "brk", "map" }, { "stat", "meta" },
};
/* clang-format on */

struct word {
	const char *text;
	size_t n;
};

static int by_name(const void *key, const void *row)
{
	const struct word *word = key;
	const char *name = ((const struct strace_shape *)row)->name;
	size_t n = strlen(name), some = word->n < n ? word->n : n;
	int order = memcmp(word->text, name, some);

	return order ? order : (word->n > n) - (word->n < n);
}

const struct strace_shape *strace_shape(const char *name, size_t n)
{
	struct word word = { name, n };

	return bsearch(&word, shapes, sizeof(shapes) / sizeof(*shapes), sizeof(*shapes), by_name);
}

const char *strace_category(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
		size_t bytes = strlen(categories[i].start);

		if (n >= bytes && !memcmp(name, categories[i].start, bytes) &&
				!(n > 5 && !memcmp(name + n - 5, "xattr", 5)))
			return categories[i].category;
	}
	return !memcmp(name, "sendfile", n < 8 ? n : 8) ? "data" : pfw_call_category(name, n, false);
}

/* Categories by the beginnings of names; see pfw-category.h. */
#include "pfw/pfw-category.h"

#include <string.h>

/* The first that fits, leading underscores left out; the tracer's own table has the same calls in the same places. */
static const struct {
	const char *start;
	const char *category;
} starts[] = {
	{ "readlink", "meta" },
	{ "readdir", "dir" },
	{ "read", "data" },
	{ "write", "data" },
	{ "pread", "data" },
	{ "pwrite", "data" },
	{ "lseek", "data" },
	{ "sendfile", "data" },
	{ "copy_file", "data" },
	{ "splice", "data" },
	{ "tee", "data" },
	{ "posix_fa", "data" },
	{ "fallocate", "data" },
	{ "opendir", "dir" },
	{ "open", "open" },
	{ "creat", "open" },
	{ "close_range", "open" },
	{ "closedir", "dir" },
	{ "close", "open" },
	{ "dup", "open" },
	{ "mkdir", "dir" },
	{ "rmdir", "dir" },
	{ "chdir", "dir" },
	{ "fchdir", "dir" },
	{ "getcwd", "dir" },
	{ "rewinddir", "dir" },
	{ "seekdir", "dir" },
	{ "telldir", "dir" },
	{ "scandir", "dir" },
	{ "fsync", "sync" },
	{ "fdatasync", "sync" },
	{ "sync", "sync" },
	{ "mmap", "map" },
	{ "munmap", "map" },
	{ "mremap", "map" },
	{ "msync", "map" },
	{ "madvise", "map" },
	{ "mprotect", "map" },
	{ "mlock", "map" },
	{ "munlock", "map" },
	{ "fork", "process" },
	{ "vfork", "process" },
	{ "exec", "process" },
	{ "exit", "process" },
	{ "wait", "process" },
	{ "posix_sp", "process" },
	{ "system", "process" },
	{ "pipe", "net" },
	{ "sysconf", "libc" },
};

const char *pfw_call_category(const char *name, size_t n, bool is_stdio)
{
	if (is_stdio)
		return "stdio";
	for (; n && *name == '_'; n--)
		name++;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		size_t bytes = strlen(starts[i].start);

		if (n >= bytes && !memcmp(name, starts[i].start, bytes))
			return starts[i].category;
	}
	return "meta";
}

const char *pfw_trace_category(const char *call_category)
{
	return call_category && !strcmp(call_category, "stdio") ? "STDIO" : "POSIX";
}

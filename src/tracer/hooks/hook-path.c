/* Wrappers for queries and changes of file metadata. */
#include "tracer/hook.h"

#include <dirent.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <semaphore.h>
#include <shadow.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>
#include <utime.h>

#include "calls/path.def"

EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
	sem_t *(*next)(const char *, int, ...) = next_function(CALL_sem_open);
	va_list ap;
	va_start(ap, flags);
	mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	unsigned value = flags & O_CREAT ? va_arg(ap, unsigned) : 0;
	va_end(ap);
	if (!tracer_wants(SONDE_CAT_META))
		return next(name, flags, mode, value);
	uint64_t start = tick();
	sem_t *result = next(name, flags, mode, value);
	call_done(CALL_sem_open, start, RET_P(result), ERROR_P(result), CALL(.text = name, ARGS3(flags, mode, value)));
	return result;
}

/* Wrappers for directories. */

int pivot_root(const char *path, const char *old);

#include "calls/dir.def"

/* A relative path starts at the previous directory: recorded before the table is updated. */
#define CHDIR(name, type, field) \
	EXPORT int name(type field) \
	{ \
		int (*next)(type) = next_function(CALL_##name); \
		if (!tracer_wants(SONDE_CAT_ALL)) \
			return next(field); \
		uint64_t start = tick(); \
		int result = next(field); \
		call_done(CALL_##name, start, result, ERROR_I(result), CALL(.field = field)); \
		if (!result) \
			fds_chdir(); \
		return result; \
	}
CHDIR(chdir, const char *, path)
CHDIR(fchdir, int, fd)

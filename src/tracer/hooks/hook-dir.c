/* Wrappers for directories. */
#include "tracer/hook.h"

#include <dirent.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int pivot_root(const char *path, const char *old);

#include "calls/dir.def"

/* A relative path starts at the previous directory: recorded before the table is updated. */
EXPORT int chdir(const char *path)
{
	int (*next)(const char *) = next_function(CALL_chdir);
	if (!tracer_wants(SONDE_CAT_ALL))
		return next(path);
	uint64_t start = tick();
	int result = next(path);
	call_done(CALL_chdir, start, result, ERROR_I(result), CALL(.path = path));
	if (!result)
		fds_chdir();
	return result;
}

EXPORT int fchdir(int fd)
{
	int (*next)(int) = next_function(CALL_fchdir);
	if (!tracer_wants(SONDE_CAT_ALL))
		return next(fd);
	uint64_t start = tick();
	int result = next(fd);
	call_done(CALL_fchdir, start, result, ERROR_I(result), CALL(.fd = fd));
	if (!result)
		fds_chdir();
	return result;
}

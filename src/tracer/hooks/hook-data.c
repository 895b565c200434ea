/* Wrappers for reads and writes through descriptors. */
#include "tracer/hook.h"
#include "tracer/hooks/iov.h"

#include <aio.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* The offset before the call, from an offset passed by pointer and advanced by the result. */
static int64_t offset_before(const off_t *at, int64_t result)
{
	return at && result >= 0 ? *at - result : SONDE_NONE;
}

static int64_t copied_from(int fd, const off_t *at, int64_t result)
{
	return at ? offset_before(at, result) : fds_advance(fd, result);
}

/* The target's offset moved too, by a call recorded for another descriptor: it is unknown from now on. */
static int copied_to(int fd)
{
	fds_share(fd);
	return fd;
}

/* The identity of the target file of a copy, for the recorder; 0 if unknown or not recorded. */
static uint64_t target_file(int fd)
{
	uint64_t file = fds_file(fd);
	return file & FILE_IGNORED ? 0 : file;
}

#include "calls/data.def"

/* Wrappers for synchronisation with storage. */

#include "calls/sync.def"

/* Wrappers for POSIX asynchronous I/O. libc reads the control block itself, so its address is valid. */

#include "calls/aio.def"

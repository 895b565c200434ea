/* Wrappers for reading and writing through descriptors. */
#include "tracer/hook.h"
#include "tracer/hooks/iov.h"

#include <sys/sendfile.h>
#include <unistd.h>

/* An offset that was handed over by pointer and has moved on by the result. */
static int64_t offset_before(const off_t *at, int64_t result)
{
	return at && result >= 0 ? *at - result : SONDE_NONE;
}

static int64_t copied_from(int fd, const off_t *at, int64_t result)
{
	return at ? offset_before(at, result) : fds_advance(fd, result);
}

/* The target's offset moved too, by a call that speaks of another descriptor: it is not followed further. */
static int copied_to(int fd)
{
	fds_share(fd);
	return fd;
}

/* The identity of the file that a copy was written to, for the recorder; 0 where it is unknown or not recorded. */
static uint64_t target_file(int fd)
{
	uint64_t file = fds_file(fd);
	return file & FILE_IGNORED ? 0 : file;
}

#include "calls/data.def"

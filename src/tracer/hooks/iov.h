/* The number of bytes that an iovec array requests; read only if the kernel must have read it. */
#ifndef SONDE_TRACER_HOOKS_IOV_H
#define SONDE_TRACER_HOOKS_IOV_H

#include "tracer/tracer.h"

#include <sys/uio.h>

static inline bool iov_was_read(int64_t result)
{
	return result >= 0 || errno == EAGAIN || errno == EINTR || errno == EPIPE || errno == ENOSPC || errno == EIO;
}

static inline int64_t iov_bytes(int64_t result, const struct iovec *iov, int count)
{
	int64_t sum = 0;
	if (!iov_was_read(result))
		return SONDE_NONE;
	for (int i = 0; i < count; i++)
		sum += (int64_t)iov[i].iov_len;
	return sum;
}

#endif

/*
 * cleanup: locals that release themselves when their scope ends.
 *
 *	CLEANUP(buf_release) struct buf text = BUF_INIT;
 *	CLEANUP(cleanup_fd) int fd = open(...);
 *
 * Any S_release(struct S *) can be used directly; the helpers here are for types without such a function. To transfer
 * a resource to the caller, return it and set the variable to a harmless value (-1, NULL). errno is preserved.
 */
#ifndef SONDE_BASE_CLEANUP_H
#define SONDE_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(release) __attribute__((cleanup(release)))

static inline void cleanup_fd(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

static inline void cleanup_dir(DIR **dir)
{
	int saved = errno;

	if (*dir)
		closedir(*dir);
	errno = saved;
}

static inline void cleanup_free(void *place)
{
	int saved = errno;

	free(*(void **)place);
	errno = saved;
}

#endif

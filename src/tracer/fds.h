/*
 * fds: which file a descriptor is, and where it stands.
 *
 * Each open gives a new file identity (process << 32 | count); dup and fork pass
 * it on. Descriptors that came from elsewhere (exec, SCM_RIGHTS, a raw system
 * call) get theirs at first use from /proc/self/fd. An identity with FILE_IGNORED
 * is outside the path filters: its calls are counted, not recorded.
 *
 * An offset is told only while it is provably this descriptor's own: opened here,
 * seekable, not for append, used by one thread, never duplicated, no fork since.
 */
#ifndef SONDE_TRACER_FDS_H
#define SONDE_TRACER_FDS_H

#include "tracer/tracer.h"

#define FILE_IGNORED (1ull << 63)
#define FDS_MAX 65536

struct fd_entry {
	uint64_t file; /* 0 unknown */
	int64_t pos;
	int32_t owner;   /* tid that alone moves it; 0 nobody's: offsets unknown */
	uint32_t shared; /* tracer.share_epoch at open */
};

extern struct fd_entry *fds __attribute__((visibility("hidden")));

bool fds_init(void);
uint64_t fds_identify(int fd); /* the slow look-up */
uint64_t fds_new_file(void);
/* Is a path inside the filters? A relative one is joined to its directory first. */
bool fds_path_is_wanted_at(int dirfd, const char *path);
void fds_define(uint64_t file, uint64_t base, const char *path, size_t len); /* a FILE record */
uint64_t fds_opened(int fd, int open_flags, bool is_ignored);
void fds_closed_range(unsigned first, unsigned last);
void fds_chdir(void); /* the current directory has changed */

ALWAYS_INLINE uint64_t fds_file(int fd)
{
	if (unlikely((unsigned)fd >= FDS_MAX))
		return 0;
	uint64_t file = fds[fd].file;
	return likely(file != 0) ? file : fds_identify(fd);
}

ALWAYS_INLINE void fds_closed(int fd)
{
	if ((unsigned)fd < FDS_MAX)
		fds[fd] = (struct fd_entry){ 0 };
}

ALWAYS_INLINE void fds_dup(int from, int to)
{
	if ((unsigned)to >= FDS_MAX || from == to)
		return;
	uint64_t file = fds_file(from);
	if ((unsigned)from < FDS_MAX)
		fds[from].owner = 0;
	fds[to] = (struct fd_entry){ .file = file };
}

ALWAYS_INLINE bool fds_is_private(const struct fd_entry *e)
{
	return e->owner == thread.tid && e->shared == tracer.share_epoch;
}

/* The offset at which a call that moved by `moved` bytes began, or SONDE_NONE. */
ALWAYS_INLINE int64_t fds_advance(int fd, int64_t moved)
{
	if (unlikely((unsigned)fd >= FDS_MAX))
		return SONDE_NONE;
	struct fd_entry *e = &fds[fd];
	if (!fds_is_private(e)) {
		e->owner = 0;
		return SONDE_NONE;
	}
	int64_t at = e->pos;
	if (moved > 0)
		e->pos = at + moved;
	return at;
}

ALWAYS_INLINE void fds_seeked(int fd, int64_t to)
{
	if ((unsigned)fd < FDS_MAX && to >= 0) {
		if (fds_is_private(&fds[fd]))
			fds[fd].pos = to;
		else
			fds[fd].owner = 0;
	}
}

#endif

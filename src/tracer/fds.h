/*
 * fds: maps descriptors to files and offsets.
 *
 * Each open creates a new file identity (process << 32 | count); dup and fork keep it. Descriptors from elsewhere
 * (exec, SCM_RIGHTS, a raw system call) get theirs at first use from /proc/self/fd. An identity with FILE_IGNORED is
 * outside the path filters: its calls are counted, not recorded.
 *
 * An offset is recorded only while it is provably private to this descriptor: opened here, seekable, not for append,
 * not one of stdio's three, used by one thread, never duplicated, no fork since.
 *
 * A vfork child has its own descriptors but its parent's memory: what it opens and duplicates is kept in a few entries
 * of its thread, never in the table.
 */
#ifndef SONDE_TRACER_FDS_H
#define SONDE_TRACER_FDS_H

#include "tracer/tracer.h"

#define FILE_IGNORED (1ull << 63)
#define FDS_MAX 65536

struct fd_entry {
	uint64_t file; /* 0 unknown */
	int64_t pos;
	int32_t owner;   /* the only tid that moves it; 0: offsets unknown */
	uint32_t shared; /* tracer.share_epoch at open */
};

extern struct fd_entry *fds __attribute__((visibility("hidden")));

bool fds_init(void);
uint64_t fds_identify(int fd); /* the slow lookup */
uint64_t fds_new_file(void);
/* Is a path inside the filters? A relative one is joined to its directory first. */
bool fds_path_is_wanted_at(int dirfd, const char *path);
void fds_define(uint64_t file, uint64_t base, const char *path, size_t len); /* a FILE record */
uint64_t fds_opened(int fd, int open_flags, bool is_ignored);
void fds_dup(int from, int to);
void fds_closed_range(unsigned first, unsigned last);
void fds_start_in(const char *cwd, size_t len); /* the current directory at start */
void fds_chdir(void);                           /* the current directory has changed */
uint64_t fds_cwd(void);

/* The same for a vfork child, and its end. */
uint64_t fds_child_file(int fd);
void fds_child_set(int fd, uint64_t file);
void fds_child_forget(void);

ALWAYS_INLINE uint64_t fds_file(int fd)
{
	if (unlikely((unsigned)fd >= FDS_MAX))
		return 0;
	if (unlikely(thread.vfork_pid))
		return fds_child_file(fd);
	uint64_t file = fds[fd].file;
	return likely(file != 0) ? file : fds_identify(fd);
}

/* Forget fd: it was closed, or refers to another file now. */
ALWAYS_INLINE void fds_closed(int fd)
{
	if ((unsigned)fd >= FDS_MAX)
		return;
	if (unlikely(thread.vfork_pid))
		fds_child_set(fd, 0);
	else
		fds[fd] = (struct fd_entry){ 0 };
}

/* Remove and return the entry of fd before it is closed: another thread may reuse the number immediately. */
ALWAYS_INLINE struct fd_entry fds_take(int fd)
{
	struct fd_entry was = { 0 };
	if ((unsigned)fd >= FDS_MAX)
		return was;
	if (unlikely(thread.vfork_pid))
		was.file = fds_child_file(fd);
	else
		was = fds[fd];
	fds_closed(fd);
	return was;
}

/* The call has failed: restore the entry of fd. */
ALWAYS_INLINE void fds_give_back(int fd, struct fd_entry was)
{
	if ((unsigned)fd >= FDS_MAX)
		return;
	if (unlikely(thread.vfork_pid))
		fds_child_set(fd, was.file);
	else
		fds[fd] = was;
}

/* Other processes or threads may move fd's offset from now on. */
ALWAYS_INLINE void fds_share(int fd)
{
	if ((unsigned)fd < FDS_MAX)
		fds[fd].owner = 0;
}

ALWAYS_INLINE bool fds_is_private(const struct fd_entry *e)
{
	return e->owner == thread.tid && e->shared == tracer.share_epoch;
}

/*
 * Before a call that moves fd's offset. A second thread revokes the ownership here, not afterwards: the owner must see
 * that before it computes its next offset.
 */
ALWAYS_INLINE void fds_touch(int fd)
{
	if (likely((unsigned)fd < FDS_MAX) && fds[fd].owner && unlikely(!fds_is_private(&fds[fd])))
		__atomic_store_n(&fds[fd].owner, 0, __ATOMIC_SEQ_CST);
}

/* The offset before a call that moved it by `moved` bytes, or SONDE_NONE. fds_touch precedes the call. */
ALWAYS_INLINE int64_t fds_advance(int fd, int64_t moved)
{
	if (unlikely((unsigned)fd >= FDS_MAX))
		return SONDE_NONE;
	struct fd_entry *e = &fds[fd];
	if (!fds_is_private(e))
		return SONDE_NONE;
	int64_t at = e->pos;
	if (moved > 0)
		e->pos = at + moved;
	return at;
}

ALWAYS_INLINE void fds_seeked(int fd, int64_t to)
{
	if ((unsigned)fd < FDS_MAX && to >= 0 && fds_is_private(&fds[fd]))
		fds[fd].pos = to;
}

#endif

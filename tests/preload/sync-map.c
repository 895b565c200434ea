/* Making sure that data is on the device, and files in memory. */
#include "expect.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define LL(pointer) (long long)(intptr_t)(pointer)

static int r, fd;
static const char *path;

static void syncs(void)
{
	r = fsync(fd);
	WANT(fsync, .fd = fd, .path = path, .ret = r);
	r = fsync(-1);
	WANT(fsync, .ret = r);
	r = fdatasync(fd);
	WANT(fdatasync, .fd = fd, .path = path, .ret = r);
	sync();
	WANT(sync);
	r = syncfs(fd);
	WANT(syncfs, .fd = fd, .path = path, .ret = r);
	r = sync_file_range(fd, 1, 2, SYNC_FILE_RANGE_WRITE);
	WANT(sync_file_range, .fd = fd, .path = path, .size = 2, .offset = 1, .ret = r,
			.args = F(" flags=%d", SYNC_FILE_RANGE_WRITE));
	r = sync_file_range(-1, 1, 2, 0);
	WANT(sync_file_range, .size = 2, .offset = 1, .ret = r, .args = " flags=0");
}

static void maps(void)
{
	char *at, *moved;
#define MAP(call) \
	at = call(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096); \
	CHECK(at != MAP_FAILED); \
	WANT(call, .fd = fd, .path = path, .size = 8192, .offset = 4096, .ret = LL(at), \
			.args = F(" address=0 prot=%d flags=%d", PROT_READ | PROT_WRITE, MAP_SHARED)); \
	r = munmap(at, 8192); \
	WANT(munmap, .path = path, .size = 8192, .ret = r, .args = F(" address=%lld", LL(at)))
	MAP(mmap);
	MAP(mmap64);
	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, -1, 0);
	WANT(mmap, .size = 4096, .offset = 0, .ret = -1,
			.args = F(" address=0 prot=%d flags=%d", PROT_READ, MAP_SHARED));
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* no file: not recorded */
	CHECK(munmap(at, 4096) == 0);
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	WANT(mmap, .fd = fd, .path = path, .size = 4096, .offset = 0, .ret = LL(at),
			.args = F(" address=0 prot=%d flags=%d", PROT_READ | PROT_WRITE, MAP_SHARED));
	at[0] = 'x';
	r = msync(at, 4096, MS_SYNC);
	WANT(msync, .path = path, .size = 4096, .ret = r, .args = F(" address=%lld flags=%d", LL(at), MS_SYNC));
	r = msync(at + 1, 1, MS_SYNC);
	WANT(msync, .size = 1, .ret = r, .args = F(" address=%lld flags=%d", LL(at + 1), MS_SYNC));
	moved = mremap(at, 4096, 12288, MREMAP_MAYMOVE);
	WANT(mremap, .path = path, .size = 4096, .ret = LL(moved),
			.args = F(" address=%lld new_size=12288 flags=%d", LL(at), MREMAP_MAYMOVE));
	at = mremap(moved, 12288, 0, MREMAP_MAYMOVE);
	WANT(mremap, .path = path, .size = 12288, .ret = LL(at),
			.args = F(" address=%lld new_size=0 flags=%d", LL(moved), MREMAP_MAYMOVE));
	r = munmap(moved, 12288);
	WANT(munmap, .path = path, .size = 12288, .ret = r, .args = F(" address=%lld", LL(moved)));
	CHECK(munmap(moved, 12288) == 0); /* nothing there any more, and nothing recorded */
}

/* What programs say of memory: recorded where it is a file's. */
static void advice(void)
{
	char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *none;
	CHECK(at != MAP_FAILED);
	WANT(mmap, .fd = fd, .path = path, .size = 8192, .offset = 0, .ret = LL(at),
			.args = F(" address=0 prot=%d flags=%d", PROT_READ | PROT_WRITE, MAP_SHARED));
#define ON(call, extra, ...) \
	r = call(at, __VA_ARGS__); \
	WANT(call, .path = path, .size = 8192, .ret = r, .args = F(" address=%lld" extra, LL(at)))
	ON(madvise, " advice=2", 8192, MADV_SEQUENTIAL);
	ON(madvise, " advice=9999", 8192, 9999);
	ON(posix_madvise, " advice=3", 8192, POSIX_MADV_WILLNEED);
	ON(mprotect, " prot=1", 8192, PROT_READ);
	ON(mlock, "", 8192);
	ON(munlock, "", 8192);
	ON(mlock2, " flags=1", 8192, MLOCK_ONFAULT);
	ON(mlock2, " flags=77", 8192, 77);
	r = mlockall(0);
	WANT(mlockall, .ret = r, .args = " flags=0");
	r = munlockall();
	WANT(munlockall, .ret = r);
	r = munmap(at, 8192);
	WANT(munmap, .path = path, .size = 8192, .ret = r, .args = F(" address=%lld", LL(at)));
	none = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(!madvise(none, 4096, MADV_NORMAL) && !mprotect(none, 4096, PROT_READ) && !munmap(none, 4096));
}

int main(void)
{
	raw_file("f", "x");
	path = KEEP(P("f"));
	fd = raw_open("f", O_RDWR);
	raw(SYS_ftruncate, fd, 16384);
	syncs();
	maps();
	advice();
	return ended();
}

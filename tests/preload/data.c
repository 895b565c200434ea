/* Reading, writing and copying through descriptors. */
#include "expect.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t __read(int, void *, size_t);
ssize_t __write(int, const void *, size_t);
ssize_t __pread64(int, void *, size_t, off_t);
ssize_t __pwrite64(int, const void *, size_t, off_t);
off_t __lseek(int, off_t, int);
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off_t, size_t);

static char buf[64];
static const char *path;
static int fd;
static off_t at; /* where the program believes fd to stand */

static void plain(void)
{
	ssize_t n;
#define WRITE(name) \
	n = name(fd, "0123456789", 10); \
	WANT(name, .fd = fd, .path = path, .size = 10, .offset = at, .ret = n); \
	CHECK(n == 10); \
	at += n
	WRITE(write);
	WRITE(__write);
#define SEEK(name) \
	at = name(fd, 0, SEEK_SET); \
	WANT(name, .fd = fd, .path = path, .offset = 0, .ret = at, .args = F(" whence=%d", SEEK_SET)); \
	CHECK(at == 0)
	SEEK(lseek);
	SEEK(lseek64);
	SEEK(__lseek);
#define READ(name, ...) \
	n = name(fd, buf, 5, ##__VA_ARGS__); \
	WANT(name, .fd = fd, .path = path, .size = 5, .offset = at, .ret = n); \
	CHECK(n == 5); \
	at += n
	READ(read);
	READ(__read);
	READ(__read_chk, sizeof(buf));
#define PREAD(name, ...) \
	n = name(fd, buf, 7, 3, ##__VA_ARGS__); \
	WANT(name, .fd = fd, .path = path, .size = 7, .offset = 3, .ret = n); \
	CHECK(n == 7)
	PREAD(pread);
	PREAD(pread64);
	PREAD(__pread64);
	PREAD(__pread_chk, sizeof(buf));
	PREAD(__pread64_chk, sizeof(buf));
#define PWRITE(name) \
	n = name(fd, "xyz", 3, 4); \
	WANT(name, .fd = fd, .path = path, .size = 3, .offset = 4, .ret = n); \
	CHECK(n == 3)
	PWRITE(pwrite);
	PWRITE(pwrite64);
	PWRITE(__pwrite64);
}

static void vectors(void)
{
	struct iovec v[2] = { { buf, 3 }, { buf + 8, 4 } };
	ssize_t n = readv(fd, v, 2);
	WANT(readv, .fd = fd, .path = path, .size = 7, .offset = at, .ret = n, .args = " count=2");
	at += n;
	CHECK(n == 5); /* twenty bytes, fifteen read before */
	n = writev(fd, v, 2);
	WANT(writev, .fd = fd, .path = path, .size = 7, .offset = at, .ret = n, .args = " count=2");
	at += n;
#define AT(name) \
	n = name(fd, v, 2, 1); \
	WANT(name, .fd = fd, .path = path, .size = 7, .offset = 1, .ret = n, .args = " count=2"); \
	CHECK(n == 7)
	AT(preadv);
	AT(preadv64);
	AT(pwritev);
	AT(pwritev64);
#define AT2(name) \
	n = name(fd, v, 2, 2, 0); \
	WANT(name, .fd = fd, .path = path, .size = 7, .offset = 2, .ret = n, .args = " count=2 flags=0"); \
	CHECK(n == 7)
	AT2(preadv2);
	AT2(preadv64v2);
	AT2(pwritev2);
	AT2(pwritev64v2);
	n = pwritev2(fd, v, 2, -1, 0); /* as writev does */
	WANT(pwritev2, .fd = fd, .path = path, .size = 7, .offset = at, .ret = n, .args = " count=2 flags=0");
	at += n;
}

static void copies(void)
{
	int to = raw_open("copy", O_RDWR | O_CREAT), ends[2];
	off_t from = 2, into = 1;
	raw(SYS_pipe2, ends, 0);
	const char *pipe_path = fd_path(ends[0]); /* both ends have one name */
#define SENDFILE(name) \
	from = 2; \
	n = name(to, fd, &from, 6); \
	WANT(name, .fd = fd, .path = path, .size = 6, .offset = 2, .ret = n, .args = F(" to=%d", to)); \
	CHECK(n == 6)
	ssize_t n;
	SENDFILE(sendfile);
	SENDFILE(sendfile64);
	raw(SYS_lseek, fd, 0, 0);
	at = lseek(fd, 0, SEEK_SET);
	WANT(lseek, .fd = fd, .path = path, .offset = 0, .ret = at, .args = " whence=0");
	n = sendfile(to, fd, NULL, 4);
	WANT(sendfile, .fd = fd, .path = path, .size = 4, .offset = at, .ret = n, .args = F(" to=%d", to));
	at += n;
	from = 3;
	n = copy_file_range(fd, &from, to, &into, 5, 0);
	WANT(copy_file_range, .fd = fd, .path = path, .size = 5, .offset = 3, .ret = n,
			.args = F(" to=%d to_offset=1 flags=0", to));
	CHECK(n == 5 && into == 6);
	from = 0;
	n = splice(fd, &from, ends[1], NULL, 8, 0);
	WANT(splice, .fd = fd, .path = path, .size = 8, .offset = 0, .ret = n,
			.args = F(" to=%d to_offset=%lld flags=0", ends[1], (long long)NONE));
	CHECK(n == 8);
	int more[2];
	raw(SYS_pipe2, more, 0);
	n = tee(ends[0], more[1], 4, 0);
	WANT(tee, .fd = ends[0], .path = pipe_path, .size = 4, .ret = n, .args = F(" to=%d flags=0", more[1]));
	CHECK(n == 4);
	struct iovec v = { buf, 9 };
	n = vmsplice(ends[1], &v, 1, 0);
	WANT(vmsplice, .fd = ends[1], .path = pipe_path, .size = 9, .ret = n, .args = " count=1 flags=0");
	CHECK(n == 9);
}

static void space(void)
{
	int r = (int)readahead(fd, 0, 4096);
	WANT(readahead, .fd = fd, .path = path, .size = 4096, .offset = 0, .ret = r);
#define ADVISE(name) \
	r = name(fd, 1, 2, POSIX_FADV_WILLNEED); \
	WANT(name, .fd = fd, .path = path, .size = 2, .offset = 1, .ret = r, \
			.args = F(" advice=%d", POSIX_FADV_WILLNEED))
	ADVISE(posix_fadvise);
	ADVISE(posix_fadvise64);
#define RESERVE(name) \
	r = name(fd, 0, 100); \
	WANT(name, .fd = fd, .path = path, .size = 100, .offset = 0, .ret = r)
	RESERVE(posix_fallocate);
	RESERVE(posix_fallocate64);
#define ALLOCATE(name) \
	r = name(fd, 0, 0, 100); \
	WANT(name, .fd = fd, .path = path, .size = 100, .offset = 0, .ret = r, .args = " mode=0")
	ALLOCATE(fallocate);
	ALLOCATE(fallocate64);
#define CUT(name) \
	r = name(fd, 50); \
	WANT(name, .fd = fd, .path = path, .size = 50, .ret = r)
	CUT(ftruncate);
	CUT(ftruncate64);
#define CUT_PATH(name) \
	r = name("file", 40); \
	WANT(name, .path = path, .size = 40, .ret = r)
	CUT_PATH(truncate);
	CUT_PATH(truncate64);
}

static void failures(void)
{
	struct iovec v = { buf, 3 };
	errno = 0;
	ssize_t n = read(-1, buf, 3);
	WANT(read, .size = 3, .ret = n);
	n = write(999, buf, 3);
	WANT(write, .fd = 999, .size = 3, .ret = n);
	n = read(fd, bad, 3);
	WANT(read, .fd = fd, .path = path, .size = 3, .offset = at, .ret = n);
	n = pread(fd, buf, 3, -5);
	WANT(pread, .fd = fd, .path = path, .size = 3, .offset = -5, .ret = n);
	n = readv(fd, bad, 1); /* nothing is known of an array that cannot be read */
	WANT(readv, .fd = fd, .path = path, .offset = at, .ret = n, .args = " count=1");
	n = writev(-1, bad, 1);
	WANT(writev, .ret = n, .args = " count=1");
	volatile int count = -1;
	n = readv(fd, &v, count);
	WANT(readv, .fd = fd, .path = path, .offset = at, .ret = n, .args = " count=-1");
	off_t to = lseek(fd, -1, SEEK_SET);
	WANT(lseek, .fd = fd, .path = path, .offset = -1, .ret = to, .args = " whence=0");
	n = sendfile(-1, fd, bad, 3);
	WANT(sendfile, .fd = fd, .path = path, .size = 3, .ret = n, .args = " to=-1");
	int r = posix_fallocate(-1, 0, 1);
	WANT(posix_fallocate, .size = 1, .offset = 0, .ret = r, .err = r);
	CHECK(r == EBADF);
	r = truncate("nowhere", 1);
	WANT(truncate, .path = P("nowhere"), .size = 1, .ret = r);
}

int main(void)
{
	path = KEEP(P("file"));
	fd = open("file", O_RDWR | O_CREAT, 0600);
	WANT(open, .fd = fd, .path = path, .ret = fd, .args = F(" flags=%d mode=%d", O_RDWR | O_CREAT, 0600));
	plain();
	vectors();
	failures();
	copies();
	space();
	return ended();
}

/* POSIX asynchronous input and output. */
#include "expect.h"

#include <aio.h>
#include <fcntl.h>
#include <unistd.h>

static char buf[64];
static int r, fd;
static const char *path;

#define CONTROL(cb) F(" control=%lld", (long long)(intptr_t)(cb))

/* The same for the plain names and for those that end in 64. */
#define ALL(suffix) \
	static void all##suffix(void) \
	{ \
		struct aiocb##suffix cb = { .aio_fildes = fd, .aio_buf = buf, .aio_nbytes = 6, .aio_offset = 2 }; \
		const struct aiocb##suffix *const list[] = { &cb }; \
		struct aiocb##suffix *const jobs[] = { &cb }; \
		r = aio_write##suffix(&cb); \
		WANT(aio_write##suffix, .fd = fd, .path = path, .size = 6, .offset = 2, .ret = r, \
				.args = CONTROL(&cb)); \
		r = aio_suspend##suffix(list, 1, NULL); \
		WANT(aio_suspend##suffix, .ret = r, .args = " count=1"); \
		r = aio_error##suffix(&cb); \
		WANT(aio_error##suffix, .fd = fd, .path = path, .ret = r, .args = CONTROL(&cb)); \
		CHECK(r == 0); \
		r = (int)aio_return##suffix(&cb); \
		WANT(aio_return##suffix, .fd = fd, .path = path, .ret = r, .args = CONTROL(&cb)); \
		CHECK(r == 6); \
		cb.aio_nbytes = 4; \
		r = aio_read##suffix(&cb); \
		WANT(aio_read##suffix, .fd = fd, .path = path, .size = 4, .offset = 2, .ret = r, \
				.args = CONTROL(&cb)); \
		r = aio_suspend##suffix(list, 1, NULL); \
		WANT(aio_suspend##suffix, .ret = r, .args = " count=1"); \
		r = (int)aio_return##suffix(&cb); \
		WANT(aio_return##suffix, .fd = fd, .path = path, .ret = r, .args = CONTROL(&cb)); \
		r = aio_fsync##suffix(O_SYNC, &cb); \
		WANT(aio_fsync##suffix, .fd = fd, .path = path, .ret = r, \
				.args = F("%s operation=%d", CONTROL(&cb), O_SYNC)); \
		r = aio_suspend##suffix(list, 1, NULL); \
		WANT(aio_suspend##suffix, .ret = r, .args = " count=1"); \
		r = aio_cancel##suffix(fd, NULL); \
		WANT(aio_cancel##suffix, .fd = fd, .path = path, .ret = r, .args = CONTROL(NULL)); \
		cb.aio_lio_opcode = LIO_READ; \
		r = lio_listio##suffix(LIO_WAIT, jobs, 1, NULL); \
		WANT(lio_listio##suffix, .ret = r, .args = F(" mode=%d count=1", LIO_WAIT)); \
		r = aio_fsync##suffix(12345, &cb); \
		WANT(aio_fsync##suffix, .fd = fd, .path = path, .ret = r, \
				.args = F("%s operation=12345", CONTROL(&cb))); \
		r = aio_cancel##suffix(-1, NULL); \
		WANT(aio_cancel##suffix, .ret = r, .args = CONTROL(NULL)); \
		r = lio_listio##suffix(12345, jobs, 1, NULL); \
		WANT(lio_listio##suffix, .ret = r, .args = " mode=12345 count=1"); \
	}
ALL()
ALL(64)

int main(void)
{
	raw_file("f", "0123456789");
	path = KEEP(P("f"));
	fd = raw_open("f", O_RDWR);
	all();
	all64();
	return ended();
}

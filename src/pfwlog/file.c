/* The log file; see file.h. zlib compresses, with memory of ours and no thread's state. */
#include "pfwlog/file.h"

#include "tracer/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zlib.h>

#define LEVEL 1 /* as small as level 6 within a quarter, at a third of its time */
#define GZIP_WINDOW (15 + 16)
#define END_ROOM 64

struct deflater {
	z_stream z;
	size_t used;
	char memory[512u << 10]; /* deflate asks for 268 KiB */
};

/* zlib gets all at once, at the start, and gives it back never. */
static void *take_memory(void *opaque, unsigned items, unsigned size)
{
	struct deflater *d = opaque;
	size_t bytes = ((size_t)items * size + 15) & ~(size_t)15;
	if (bytes > sizeof(d->memory) - d->used)
		return NULL;
	d->used += bytes;
	return d->memory + d->used - bytes;
}

static void keep_memory(void *opaque, void *at)
{
	(void)opaque, (void)at;
}

static bool deflater_open(struct log_file *f)
{
	struct deflater *d = sys_map(sizeof(*d), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!d)
		return false;
	sys3(SYS_madvise, d, sizeof(*d), MADV_DONTFORK);
	d->z.zalloc = take_memory;
	d->z.zfree = keep_memory;
	d->z.opaque = d;
	f->deflater = d;
	return deflateInit2(&d->z, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK;
}

/* One whole member in `packed`. */
static int pack(struct log_file *f, const char *data, size_t n, struct text *packed)
{
	struct deflater *d = f->deflater;
	packed->len = 0;
	if (!text_need(packed, n + n / 8 + 256) || deflateReset(&d->z) != Z_OK)
		return -ENOMEM;
	d->z.next_in = (unsigned char *)(uintptr_t)data;
	d->z.avail_in = (unsigned)n;
	d->z.next_out = (unsigned char *)packed->data;
	d->z.avail_out = (unsigned)packed->room;
	if (deflate(&d->z, Z_FINISH) != Z_STREAM_END)
		return -EIO;
	packed->len = packed->room - d->z.avail_out;
	return 0;
}

static int write_all(struct log_file *f, const char *data, size_t n)
{
	for (size_t at = 0; at < n;) {
		long done = sys4(SYS_pwrite64, f->fd, data + at, n - at, f->bytes + at);
		if (done == -EINTR)
			continue;
		if (done <= 0) {
			sys2(SYS_ftruncate, f->fd, f->bytes);
			return done ? (int)done : -EIO;
		}
		at += (size_t)done;
	}
	f->bytes += n;
	return 0;
}

static int write_bytes(struct log_file *f, const char *data, size_t n, struct text *packed)
{
	int rc = f->is_gzip ? pack(f, data, n, packed) : 0;
	if (rc)
		return rc;
	return f->is_gzip ? write_all(f, packed->data, packed->len) : write_all(f, data, n);
}

int log_file_write(struct log_file *f, const struct text *text, struct text *packed)
{
	return text->len ? write_bytes(f, text->data, text->len, packed) : 0;
}

int log_file_write_end(struct log_file *f, struct text *packed)
{
	return write_bytes(f, "]", 1, packed);
}

/* Does the file end as we end files? Then what it ends with goes, and a line without its end gets one. */
static int take_off_end(struct log_file *f)
{
	struct text end = { 0 };
	char tail[END_ROOM];
	int rc = f->is_gzip ? pack(f, "]", 1, &end) : 0;
	size_t n = f->is_gzip ? end.len : 1;
	if (!rc && n <= sizeof(tail) && f->bytes >= n && sys4(SYS_pread64, f->fd, tail, n, f->bytes - n) == (long)n) {
		if (!memcmp(tail, f->is_gzip ? end.data : "]", n))
			f->bytes -= n;
		else if (!f->is_gzip && tail[0] != '\n')
			rc = write_all(f, "\n", 1);
	}
	text_release(&end);
	return rc;
}

int log_file_open(struct log_file *f, const char *path, bool is_gzip, int64_t keep)
{
	struct stat st;
	*f = (struct log_file){ .fd = sys_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644), .is_gzip = is_gzip };
	if (f->fd < 0)
		return f->fd;
	if (is_gzip && !deflater_open(f))
		return -ENOMEM;
	int rc = (int)sys2(SYS_fstat, f->fd, &st);
	if (rc)
		return rc;
	f->bytes = keep >= 0 && keep < st.st_size ? (uint64_t)keep : (uint64_t)st.st_size;
	if (keep < 0)
		rc = take_off_end(f);
	return rc ? rc : (int)sys2(SYS_ftruncate, f->fd, f->bytes);
}

void log_file_release(struct log_file *f)
{
	if (f->fd >= 0)
		sys_close(f->fd);
	if (f->deflater)
		sys2(SYS_munmap, f->deflater, sizeof(struct deflater));
	f->fd = -1;
	f->deflater = NULL;
}

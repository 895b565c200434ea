
#include "pfw/log-private.h"
#include "tracer/raw-syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define END_ROOM 64

#ifndef MREMAP_MAYMOVE
#define MREMAP_MAYMOVE 1
#endif

bool text_need(struct text *t, size_t bytes)
{
	if (t->len + bytes <= t->room)
		return true;
	size_t room = t->room ? t->room : 256u << 10;
	while (room < t->len + bytes)
		room *= 2;
	void *at = NULL;
	if (t->data) {
		long moved = sys4(SYS_mremap, t->data, t->room, room, MREMAP_MAYMOVE);
		at = sys_failed(moved) ? NULL : (void *)moved;
	} else {
		at = sys_map(room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	}
	if (!at)
		return false;
	sys3(SYS_madvise, at, room, MADV_DONTFORK);
	t->data = at;
	t->room = room;
	return true;
}

void text_release(struct text *t)
{
	if (t->data)
		sys2(SYS_munmap, t->data, t->room);
	*t = (struct text){ 0 };
}

static bool deflater_open(struct log_file *f)
{
	f->deflater = sys_map(sizeof(*f->deflater), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!f->deflater)
		return false;
	sys3(SYS_madvise, f->deflater, sizeof(*f->deflater), MADV_DONTFORK);
	deflate_init(f->deflater);
	return true;
}

/* Compresses the data to one member in `packed`. */
static int pack(struct log_file *f, const char *data, size_t n, struct text *packed)
{
	packed->len = 0;
	if (n > UINT32_MAX || !text_need(packed, deflate_bound(n)))
		return -ENOMEM;
	packed->len = deflate_member(f->deflater, data, n, packed->data);
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

/* Appends. On failure the file is unchanged. `packed` is a buffer for compression. */
static int log_file_write(struct log_file *f, const struct text *text, struct text *packed)
{
	return text->len ? write_bytes(f, text->data, text->len, packed) : 0;
}

int log_file_write_end(struct log_file *f, struct text *packed)
{
	return write_bytes(f, "]", 1, packed);
}

/* If the file ends with a log's end marker, removes it and terminates the last line. */
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

/*
 * The journal: commits the written lines and the read positions of the chunks atomically; see pfwlog.h. While
 * is_applying is set, any process may apply `next` and `cursors`, any number of times.
 */

static struct sonde_chunk *chunk_of(const struct pfwlog *log, uint32_t segment, uint32_t chunk)
{
	if (segment >= log->segment_count || chunk >= log->segments[segment]->chunk_count)
		return NULL;
	return (void *)((char *)log->segments[segment]->at + SONDE_SEGMENT_HEAD_BYTES +
			(size_t)chunk * SONDE_CHUNK_BYTES);
}

void log_apply_journal(struct pfwlog *log)
{
	struct pfwlog_state *s = log->state;
	for (uint32_t i = 0; i < s->cursor_count && i < PFWLOG_CURSORS_MAX; i++) {
		const struct pfwlog_cursor *k = &s->cursors[i];
		struct sonde_chunk *c = chunk_of(log, k->segment, k->chunk);
		if (!c)
			continue;
		c->tid = k->tid;
		c->reserved[0] = (uint32_t)k->parent;
		c->reserved[1] = (uint64_t)k->level << 32 | (uint32_t)k->pid;
		c->drained = k->at;
	}
	s->done = s->next;
	__atomic_store_n(&s->is_applying, 0, __ATOMIC_RELEASE);
}

void log_commit(struct pfwlog *log)
{
	log_write_sums(log);
	int rc = log->file.fd < 0 ? log->error : log_file_write(&log->file, &log->text, &log->packed);
	if (rc) { /* these lines are lost; names they announced must be announced again */
		log->error = rc;
		names_forget_behind(&log->names, log->state->done.text_bytes);
	} else {
		log->now.text_bytes += log->text.len;
	}
	log->now.file_bytes = log->file.bytes;
	log->text.len = 0;
	struct pfwlog_state *s = log->state;
	s->next = log->now;
	s->cursor_count = log->touched_count;
	for (uint32_t i = 0; i < log->touched_count; i++) {
		uint32_t segment = log->touched[i].segment, chunk = log->touched[i].chunk;
		const struct walk *w = &log->segments[segment]->chunks[chunk];
		s->cursors[i] = (struct pfwlog_cursor){ .segment = segment,
			.chunk = chunk,
			.at = w->at,
			.pid = w->pid,
			.tid = w->tid,
			.parent = w->parent,
			.level = w->level,
			.is_free = w->is_free };
	}
	__atomic_store_n(&s->is_applying, 1, __ATOMIC_RELEASE);
	log_apply_journal(log);
	for (uint32_t i = 0; i < log->touched_count; i++) {
		uint32_t segment = log->touched[i].segment, chunk = log->touched[i].chunk;
		struct walk *w = &log->segments[segment]->chunks[chunk];
		w->is_touched = false;
		if (w->is_free) {
			/* A chunk marked free must contain only zeros and be closed. */
			struct sonde_chunk *c = chunk_of(log, segment, chunk);
			uint64_t tail = __atomic_load_n(&c->tail,
					__ATOMIC_RELAXED); /* once: the program may change it */
			uint64_t used = tail < SONDE_CHUNK_BYTES ? tail : SONDE_CHUNK_BYTES;
			c->tail = SONDE_TAIL_CLOSED;
			memset((char *)c + sizeof(c->tail), 0,
					(used < SONDE_CHUNK_FIRST ? SONDE_CHUNK_FIRST : used) - sizeof(c->tail));
			log->segments[segment]->chunks[chunk] = (struct walk){ 0 };
			__atomic_store_n(&log->segments[segment]->at->owner[chunk], 0, __ATOMIC_RELEASE);
		}
	}
	log->touched_count = 0;
	log->has_free = false;
}

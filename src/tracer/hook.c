/*
 * Slow paths of hooks: records with paths, and calls that create descriptors. Strings are read only after the real
 * call, and dereferenced only if its success or its error proves that they are readable; else the kernel copies them,
 * which cannot fault.
 */
#include "tracer/hook.h"

#include <sys/uio.h>

void *real[CALL_COUNT];

struct text {
	const char *at;
	size_t room; /* its length, or the maximum if it may be unreadable */
	uint64_t base;
	uint8_t flag; /* SONDE_CALL_PATH, SONDE_CALL_PATH2 or plain text */
	bool is_doubtful;
};

static struct text text_of(const char *at, bool is_doubtful)
{
	return (struct text){ .at = at,
		.room = is_doubtful ? PATH_BYTES_MAX : strnlen(at, PATH_BYTES_MAX),
		.is_doubtful = is_doubtful };
}

static struct text path_of(const char *path, int dirfd, uint8_t flag, bool is_doubtful)
{
	struct text t = text_of(path, is_doubtful);
	t.flag = flag;
	if (is_doubtful || path[0] != '/')
		t.base = (dirfd == AT_FDCWD ? fds_cwd() : fds_file(dirfd)) & ~FILE_IGNORED;
	return t;
}

/* Errors that the kernel returns only after it has read the first path. */
static bool has_read_path(int errnum)
{
	switch (errnum) {
	case 0:
	case ENOENT:
	case ENOTDIR:
	case EEXIST:
	case EISDIR:
	case ENOTEMPTY:
	case ELOOP:
	case EROFS:
	case EXDEV:
	case ENODATA:
		return true;
	default:
		return false;
	}
}

/* The strings that a record may contain. */
static unsigned texts_of(struct call *c, int errnum, struct text texts[3])
{
	unsigned n = 0;
	bool can_ask = !tracer.is_seccomped, is_proved = has_read_path(errnum);
	if (c->path && (is_proved || can_ask))
		texts[n++] = path_of(c->path, c->dirfd, SONDE_CALL_PATH, !is_proved);
	if (n && c->path2 && c->args < 4 && (!errnum || can_ask)) {
		texts[n] = path_of(c->path2, c->dirfd2, SONDE_CALL_PATH2, errnum != 0);
		c->arg[c->args++] = (int64_t)texts[n++].base;
	}
	if (c->text_bytes)
		texts[n++] = (struct text){ .at = c->text, .room = c->text_bytes };
	else if (c->text && (!errnum || can_ask))
		texts[n++] = text_of(c->text, errnum != 0);
	return n;
}

/* The kernel stops at an unmapped page. */
size_t copy_doubtful(void *to, const void *at, size_t n)
{
	size_t first = 4096 - ((uintptr_t)at & 4095);
	first = first < n ? first : n;
	struct iovec into = { .iov_base = to, .iov_len = n };
	struct iovec from[2] = { { .iov_base = (void *)(uintptr_t)at, .iov_len = first },
		{ .iov_base = (void *)((uintptr_t)at + first), .iov_len = n - first } };
	long pid = thread.vfork_pid ? thread.vfork_pid : tracer.pid;
	long got = sys6(SYS_process_vm_readv, pid, (long)&into, 1, (long)from, 2, 0);
	return got > 0 ? (size_t)got : 0;
}

/* Copy a possibly unreadable string into a record; false if it cannot be read. */
static bool put_doubtful(struct sonde_string *s, const char *at)
{
	size_t n = copy_doubtful(s->text, at, PATH_BYTES_MAX);
	if (!n)
		return false;
	s->bytes = (uint32_t)strnlen(s->text, n);
	memset(s->text + s->bytes, 0, n - s->bytes);
	return true;
}

/* Write the readable strings. Returns their end. A second path without the first would be mistaken for the first. */
static char *write_texts(struct sonde_rec_call *r, char *at, const struct text *texts, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct sonde_string *s = (void *)at;
		if (texts[i].flag == SONDE_CALL_PATH2 && !r->strings)
			continue;
		if (!texts[i].is_doubtful)
			ring_put_string(s, texts[i].at, texts[i].room);
		else if (!put_doubtful(s, texts[i].at))
			continue;
		r->strings++;
		r->flags |= texts[i].flag;
		at += ring_string_bytes(s->bytes);
	}
	return at;
}

/* File identity of the result or of the path, after the call's effect on the descriptor table. */
static uint64_t take_effect(struct call *c, int64_t ret, int errnum, bool is_ignored)
{
	if (errnum)
		return c->fd >= 0 ? fds_file(c->fd) : 0;
	switch (c->effect) {
	case EFFECT_OPENS:
		c->fd = (int)ret;
		return fds_opened((int)ret, c->open_flags, is_ignored);
	case EFFECT_MAKES:
		c->fd = (int)ret;
		fds_closed((int)ret);
		return fds_file((int)ret);
	case EFFECT_DUPS:
		fds_dup(c->fd, (int)ret);
		break;
	default:
		break;
	}
	return c->fd >= 0 ? fds_file(c->fd) : 0;
}

/* The record of `c`; `kind` and `flags` are for special records. */
static void write_call(uint8_t kind, uint16_t id, uint64_t start, uint64_t end, int64_t ret, int errnum, uint64_t file,
		uint8_t flags, const struct call *c, const struct text *texts, unsigned count)
{
	size_t room = sizeof(struct sonde_rec_call) + 8 * c->args + (count ? 8 : 0);
	for (unsigned i = 0; i < count; i++)
		room += ring_string_bytes(texts[i].room);
	struct sonde_rec_call *r = ring_reserve(room);
	if (!r)
		return;
	r->ticks = start;
	r->dur_ticks = end - start;
	r->file = file;
	r->ret = ret;
	r->fd = c->fd;
	r->args = (uint8_t)c->args;
	r->strings = 0;
	r->flags = flags;
	r->size = c->size;
	r->offset = c->offset;
	int64_t *tail = (int64_t *)(r + 1);
	for (unsigned i = 0; i < c->args; i++)
		*tail++ = c->arg[i];
	char *behind = (char *)tail;
	if (count) {
		*tail = (int64_t)texts[0].base;
		behind = write_texts(r, (char *)(tail + 1), texts, count);
	}
	r->defines = c->effect == EFFECT_OPENS && !errnum && (r->flags & SONDE_CALL_PATH);
	size_t used = (size_t)(behind - (char *)r);
	ring_commit(&r->head, used < room ? ring_trim(r, room, used) : room, kind, id, (uint16_t)errnum);
}

static bool is_recorded(uint16_t id)
{
	return tracer.categories & call_info[id].mask;
}

/* A call that reads files only sometimes, and has read none this time: not even counted. */
static bool is_idle(uint64_t dur_ticks, const struct call *c)
{
	return c->only_if_slow && dur_ticks < SLOW_CALL_TICKS;
}

/* Other paths may be relative to it, so it is defined even outside the filters. */
static bool is_directory(const struct call *c)
{
	return c->open_flags & (O_DIRECTORY | O_PATH);
}

void call_done(uint16_t id, uint64_t start, int64_t ret, int errnum, struct call *c)
{
	uint64_t end = tick();
	int kept_errno = errno;
	struct text texts[3];
	bool is_ignored = c->path && has_read_path(errnum) && !fds_path_is_wanted_at(c->dirfd, c->path);
	unsigned count = texts_of(c, errnum, texts);
	uint64_t file = take_effect(c, ret, errnum, is_ignored);
	bool is_unwanted = is_ignored || (file & FILE_IGNORED);
	if (is_idle(end - start, c)) {
		errno = kept_errno;
		return;
	}
	if (is_recorded(id) && !is_unwanted && end - start >= tracer.min_dur_ticks) {
		write_call(SONDE_REC_CALL, id, start, end, ret, errnum, file, 0, c, texts, count);
	} else {
		if (is_recorded(id))
			ring_count_filtered();
		if ((!is_unwanted || is_directory(c)) && c->effect == EFFECT_OPENS && !errnum && c->path)
			fds_define(file & ~FILE_IGNORED, texts[0].base, texts[0].at, texts[0].room);
	}
	errno = kept_errno;
}

void call_done_on(uint16_t id, uint64_t start, uint64_t end, int64_t ret, int errnum, uint64_t file, struct call *c)
{
	int kept_errno = errno;
	if (!is_recorded(id))
		return;
	if ((file & FILE_IGNORED) || end - start < tracer.min_dur_ticks)
		ring_count_filtered();
	else
		write_call(SONDE_REC_CALL, id, start, end, ret, errnum, file, 0, c, NULL, 0);
	errno = kept_errno;
}

void call_start(uint8_t kind, uint16_t id, uint8_t flags, struct call *c)
{
	int kept_errno = errno;
	struct text texts[3];
	if (tracer_wants(call_info[id].mask)) {
		uint64_t now = tick(), file = c->fd >= 0 ? fds_file(c->fd) : 0;
		unsigned count = texts_of(c, c->path_error, texts);
		write_call(kind, id, now, now, SONDE_NONE, 0, file, flags | SONDE_CALL_NO_END, c, texts, count);
	}
	errno = kept_errno;
}

/* Runs of calls. */

static struct sonde_rec_call *run_start(uint16_t id, uint64_t start, FILE *stream)
{
	const size_t bytes = sizeof(struct sonde_rec_call) + 8;
	thread.is_keeping_runs = thread.run_count < RUNS_MAX;
	uint64_t file = fds_file(stream_fd(stream));
	struct sonde_rec_call *r = file & FILE_IGNORED ? NULL : ring_reserve(bytes);
	thread.is_keeping_runs = false;
	if (!r) {
		if (file & FILE_IGNORED)
			ring_count_filtered();
		return NULL;
	}
	memset((char *)r + 8, 0, bytes - 8);
	r->ticks = start ? start : tick();
	r->file = file;
	r->ret = SONDE_NONE;
	r->fd = stream_fd(stream);
	r->args = 1;
	r->offset = SONDE_NONE;
	ring_commit(&r->head, bytes, SONDE_REC_RUN, id, 0);
	r->head.state = SONDE_RUNNING;
	thread.runs[thread.run_count++] = (struct run){ .at = r, .stream = stream };
	return r;
}

/* The run that this call extends, moved to the front. */
struct sonde_rec_call *call_run_of(uint16_t id, uint64_t start, FILE *stream)
{
	int kept_errno = errno;
	struct run *runs = thread.runs;
	struct sonde_rec_call *r = NULL;
	for (uint32_t i = 0; i < thread.run_count && !r; i++)
		if (runs[i].stream == stream && runs[i].at->head.call == id)
			r = runs[i].at;
	if (!r)
		r = run_start(id, start, stream);
	for (uint32_t i = 1; r && i < thread.run_count; i++)
		if (runs[i].at == r) {
			struct run front = runs[0];
			runs[0] = runs[i];
			runs[i] = front;
		}
	errno = kept_errno;
	return r;
}

/*
 * Common code of TAILCALL's stubs: r11 holds `before_<name>`. All registers that can carry arguments are saved,
 * including the vector registers of variadic callers.
 */
__asm__(".pushsection .text\n"
	".hidden call_tail\n"
	".globl call_tail\n"
	".type call_tail, @function\n"
	"call_tail:\n"
	"	.cfi_startproc\n"
	"	pushq %rax\n"
	"	pushq %rdi\n"
	"	pushq %rsi\n"
	"	pushq %rdx\n"
	"	pushq %rcx\n"
	"	pushq %r8\n"
	"	pushq %r9\n"
	"	subq $128, %rsp\n"
	"	.cfi_adjust_cfa_offset 184\n"
	"	movups %xmm0, (%rsp)\n"
	"	movups %xmm1, 16(%rsp)\n"
	"	movups %xmm2, 32(%rsp)\n"
	"	movups %xmm3, 48(%rsp)\n"
	"	movups %xmm4, 64(%rsp)\n"
	"	movups %xmm5, 80(%rsp)\n"
	"	movups %xmm6, 96(%rsp)\n"
	"	movups %xmm7, 112(%rsp)\n"
	"	call *%r11\n"
	"	movq %rax, %r11\n"
	"	movups (%rsp), %xmm0\n"
	"	movups 16(%rsp), %xmm1\n"
	"	movups 32(%rsp), %xmm2\n"
	"	movups 48(%rsp), %xmm3\n"
	"	movups 64(%rsp), %xmm4\n"
	"	movups 80(%rsp), %xmm5\n"
	"	movups 96(%rsp), %xmm6\n"
	"	movups 112(%rsp), %xmm7\n"
	"	addq $128, %rsp\n"
	"	popq %r9\n"
	"	popq %r8\n"
	"	popq %rcx\n"
	"	popq %rdx\n"
	"	popq %rsi\n"
	"	popq %rdi\n"
	"	popq %rax\n"
	"	.cfi_adjust_cfa_offset -184\n"
	"	jmp *%r11\n"
	"	.cfi_endproc\n"
	".size call_tail, . - call_tail\n"
	".popsection\n");

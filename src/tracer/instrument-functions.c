/*
 * Functions of programs built with -finstrument-functions: one FUNC record per call, written when it returns.
 *
 * Entry and return are matched by the function and by its stack address, so that recursion, inlined functions and
 * calls left by longjmp are handled. A compiler may jump to the return hook instead of calling it: then the stack
 * pointer is already the caller's. The return address is the caller's too, which identifies this case.
 */
#include "tracer/frames.h"
#include "tracer/tracer.h"

#include <elf.h>
#include <fcntl.h>

/* Modules, read from /proc/self/maps; see module.h. */

/*
 * The modules (shared objects) that contain traced code. Each is defined once in the ring of this image (a
 * MODULE record), so that a reader can resolve code addresses.
 *
 * The kernel's list of mappings is read, not the loader's: the loader's may change concurrently, and its lock may be
 * held by a thread that waits for us.
 */

#define MODULES_MAX 512
#define PAGE 4096u

struct module {
	uintptr_t start, end;
	uint32_t epoch; /* of the image with this module in its ring */
};

static struct module modules[MODULES_MAX];
static uint32_t module_count;
static uint32_t learning_epoch; /* one thread reads at a time; a lock inherited by fork is ignored */

/* One line of the list, and the state of the lines before it. */
struct mapping {
	uintptr_t start, end, offset;
	uint64_t inode;
	const char *path;
};

struct reader {
	int fd;
	size_t used, len;
	char bytes[2 * PATH_BYTES_MAX];
};

/* The next line without its newline, or NULL. A line longer than any valid path ends the list. */
static char *next_line(struct reader *r)
{
	for (;;) {
		char *line = r->bytes + r->used, *end = memchr(line, '\n', r->len - r->used);
		if (end) {
			*end = '\0';
			r->used = (size_t)(end + 1 - r->bytes);
			return line;
		}
		memmove(r->bytes, line, r->len - r->used);
		r->len -= r->used;
		r->used = 0;
		long n = sys3(SYS_read, r->fd, r->bytes + r->len, sizeof(r->bytes) - r->len);
		if (n <= 0)
			return NULL;
		r->len += (size_t)n;
	}
}

static uint64_t number(const char **at, unsigned base)
{
	uint64_t value = 0;
	for (;; ++*at) {
		unsigned c = (unsigned char)**at;
		unsigned digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : base;
		if (digit >= base)
			return value;
		value = value * base + digit;
	}
}

static void skip_word(const char **at)
{
	while (**at == ' ')
		++*at;
	while (**at && **at != ' ')
		++*at;
	while (**at == ' ')
		++*at;
}

/* "start-end perms offset device inode path" */
static struct mapping parse(const char *line)
{
	struct mapping m = { 0 };
	m.start = number(&line, 16);
	line += *line == '-';
	m.end = number(&line, 16);
	skip_word(&line);
	m.offset = number(&line, 16);
	skip_word(&line);
	m.inode = number(&line, 10);
	while (*line == ' ')
		line++;
	m.path = line;
	return m;
}

/*
 * The difference between addresses in the file and in memory; the module's code runs, so it starts with an ELF header.
 */
static uintptr_t bias_of(uintptr_t start)
{
	const Elf64_Ehdr *head = (const void *)start;
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_phoff + head->e_phnum * sizeof(Elf64_Phdr) > PAGE)
		return start;
	const Elf64_Phdr *p = (const void *)(start + head->e_phoff);
	for (unsigned i = 0; i < head->e_phnum; i++)
		if (p[i].p_type == PT_LOAD)
			return start - (p[i].p_vaddr & ~(uintptr_t)(PAGE - 1));
	return start;
}

static bool tell(uintptr_t bias, uintptr_t end, const char *path, size_t len)
{
	size_t bytes = sizeof(struct sonde_rec_def) + ring_string_bytes(len);
	struct sonde_rec_def *r = ring_reserve(bytes);
	if (!r)
		return false;
	r->id = bias;
	r->base = end;
	ring_put_string(r + 1, path, len);
	ring_commit(&r->head, bytes, SONDE_REC_MODULE, 1, 0);
	return true;
}

/* The file mapped around `code`: from its first byte to the end of its last contiguous mapping. */
static bool find(struct reader *r, uintptr_t code, struct module *out, char path[PATH_BYTES_MAX], size_t *len)
{
	uintptr_t start = 0;
	uint64_t inode = 0;
	bool is_found = false;
	for (char *line; (line = next_line(r));) {
		struct mapping m = parse(line);
		if (is_found && m.inode != inode)
			break;
		if (m.inode && (m.offset == 0 || m.inode != inode))
			start = m.start;
		inode = m.inode;
		if (code >= m.start && code < m.end) {
			is_found = true;
			*len = strnlen(m.path, PATH_BYTES_MAX);
			memcpy(path, m.path, *len);
		}
		if (is_found)
			*out = (struct module){ .start = start ? start : m.start, .end = m.end };
	}
	return is_found && inode;
}

static void learn(uintptr_t code, struct module *m)
{
	static struct reader reader; /* a thread's stack may be small */
	static char path[PATH_BYTES_MAX];
	size_t len = 0;
	reader.used = reader.len = 0;
	reader.fd = tracer.is_seccomped ? -1 : sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	if (reader.fd < 0)
		return;
	bool is_found = find(&reader, code, m, path, &len);
	sys_close(reader.fd);
	if (is_found && tell(bias_of(m->start), m->end, path, len))
		m->epoch = thread.epoch;
}

static struct module *known(uintptr_t code)
{
	for (uint32_t i = 0; i < module_count; i++)
		if (code >= modules[i].start && code < modules[i].end)
			return &modules[i];
	return NULL;
}

/* Define the module of this code, which is being executed, in the ring if needed; the thread caches it. */
static void module_use(uintptr_t code)
{
	if (__atomic_exchange_n(&learning_epoch, thread.epoch, __ATOMIC_ACQUIRE) == thread.epoch)
		return; /* the next call retries */
	struct module *m = known(code), spare = { 0 };
	if (!m)
		m = module_count < MODULES_MAX ? &modules[module_count++] : &spare;
	if (m->epoch != thread.epoch)
		learn(code, m);
	if (m->epoch != thread.epoch) /* not in a file, or unknown: not searched again */
		*m = (struct module){ code & ~(uintptr_t)(PAGE - 1), (code | (PAGE - 1)) + 1, thread.epoch };
	thread.module = m->start;
	thread.module_bytes = m->end - m->start;
	__atomic_store_n(&learning_epoch, 0, __ATOMIC_RELEASE);
}

#define HOOK_FUNCTION EXPORT __attribute__((no_instrument_function))

HOOK_FUNCTION void __cyg_profile_func_enter(void *function, void *site);
HOOK_FUNCTION void __cyg_profile_func_exit(void *function, void *site);

HOOK_FUNCTION void __cyg_profile_func_enter(void *function, void *site)
{
	if (!tracer_wants(SONDE_CAT_FUNC))
		return;
	if (unlikely((uintptr_t)function - thread.module >= thread.module_bytes))
		module_use((uintptr_t)function);
	struct origin origin = { .from = (uint32_t)(uintptr_t)__builtin_return_address(0),
		.site = (uint32_t)(uintptr_t)site };
	uint32_t depth = frames_push(tick(), FRAME_CODE | (uintptr_t)function, (uintptr_t)__builtin_dwarf_cfa(),
			origin);
	if (unlikely(depth == FRAMES_NONE))
		ring_drop();
}

/*
 * Find the returning frame if it is not simply the top. Of the frames that are not above `sp`, the outermost stack
 * address is the function's own; there the last one of this function (others are inlined into it). Else, as after
 * alloca or on another stack, the last one of this function.
 */
static uint32_t find_frame(uint64_t what, uintptr_t sp)
{
	const struct frame *f = thread.frames;
	uint32_t depth = thread.depth, low = depth;
	while (low && f[low - 1].sp && f[low - 1].sp <= sp)
		low--;
	uintptr_t place = low < depth ? f[low].sp : 0;
	for (uint32_t i = depth; i-- > low;)
		if (f[i].sp == place && f[i].what == what)
			return i;
	for (uint32_t i = depth; i-- > 0;)
		if (f[i].what == what)
			return i;
	return FRAMES_NONE;
}

static bool settle_return(uint64_t what, uintptr_t sp)
{
	uint32_t at = find_frame(what, sp);
	if (at == FRAMES_NONE)
		return false; /* entered before recording started, or before a fork */
	frames_leave(at + 1);
	frames_mirror();
	return true;
}

HOOK_FUNCTION void __cyg_profile_func_exit(void *function, void *site)
{
	if (!tracer_wants(SONDE_CAT_FUNC) || thread.frames_epoch != thread.epoch)
		return;
	uint64_t end = tick(), what = FRAME_CODE | (uintptr_t)function;
	bool is_jump = __builtin_return_address(0) == site;
	uintptr_t sp = (uintptr_t)__builtin_dwarf_cfa() - is_jump;
	const struct frame *f = frames_top();
	if (unlikely(thread.depth >= thread.frames_max && sp < f->sp))
		return; /* too deep: it was not pushed */
	bool is_top = f->what == what && (f->sp == sp || (is_jump && f[-1].sp > sp));
	if (unlikely(!is_top) && !settle_return(what, sp))
		return;
	f = frames_top();
	uint64_t start = f->ticks;
	uint32_t depth = thread.depth - 1;
	struct sonde_rec_note *r = NULL;
	if (likely(end - start >= tracer.min_dur_ticks))
		r = ring_reserve(SONDE_NOTE_SHORT_BYTES);
	else
		ring_count_filtered();
	frames_pop();
	if (unlikely(!r))
		return;
	r->ticks = start;
	r->dur_ticks = end - start;
	r->name = (uintptr_t)function;
	r->category = 0;
	r->depth = depth;
	ring_commit(&r->head, SONDE_NOTE_SHORT_BYTES, SONDE_REC_FUNC, 0, 0);
}

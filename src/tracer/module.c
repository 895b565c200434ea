/* Modules, read from /proc/self/maps; see module.h. */
#include "tracer/module.h"

#include <elf.h>
#include <fcntl.h>

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

void module_use(uintptr_t code)
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

#include "probe/perf/addrspace.h"

#include "base/buf.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULES_MAX 65536
#define MAPPINGS_MAX 65536
#define LINE_BYTES 4400
#define FOREIGN_MAX 128 /* files kept open */
#define VDSO_BYTES_MAX ((uint64_t)64 << 10)

struct space {
	unsigned shares;
	uint64_t version;
	struct mapping *maps; /* sorted, without overlaps */
	size_t count, cap;
};

/* Modules. */

void unwind_table_free(struct unwind_table *t); /* unwind.h, which includes this header */

void modules_init(struct modules *m, struct store_sink *sink)
{
	memset(m, 0, sizeof(*m));
	m->sink = sink;
}

void modules_release(struct modules *m)
{
	for (size_t i = 0; i < m->count; i++) {
		unwind_table_free(m->all[i]->table);
		free(m->all[i]->python);
		free(m->all[i]->path);
		if (m->all[i]->fd >= 0)
			close(m->all[i]->fd);
		free(m->all[i]);
	}
	free(m->all);
	map_release(&m->by_name);
	memset(m, 0, sizeof(*m));
}

static const char *const kind_words[] = { [MODULE_ELF] = "elf",
	[MODULE_VDSO] = "vdso",
	[MODULE_KERNEL] = "kernel",
	[MODULE_MEMORY] = "memory",
	[MODULE_PYTHON] = "python" };

static void emit_module(struct modules *m, const struct module *one)
{
	char hex[2 * BUILD_ID_BYTES_MAX + 1];
	for (unsigned i = 0; i < one->build_id_bytes; i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", one->build_id[i]);
	struct store_text id = { .data = hex, .bytes = (size_t)2 * one->build_id_bytes };
	struct store_module row = { .module = one->number,
		.kind = store_strings_of(&m->sink->strings, kind_words[one->kind]),
		.path = store_strings_of(&m->sink->strings, one->path),
		.build_id = one->build_id_bytes ? &id : NULL,
		.pid = one->kind == MODULE_MEMORY ? one->pid : STORE_NULL };
	store_sink_add(m->sink, STORE_TABLE_MODULE, &row);
}

/* In a container a path names another file, which disappears with the container: keep the file open. */
static int open_foreign(int32_t pid, const char *path)
{
	char there[4200];
	struct stat root, own;
	int n = snprintf(there, sizeof(there), "/proc/%d/root", pid);
	if (pid <= 0 || stat(there, &root) || stat("/", &own) ||
			(root.st_dev == own.st_dev && root.st_ino == own.st_ino))
		return -1;
	if (snprintf(there + n, sizeof(there) - (size_t)n, "%s", path) >= (int)sizeof(there) - n)
		return -1;
	int fd = open(there, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static struct module *add_module(struct modules *m, enum module_kind kind, int32_t pid, const char *path,
		const uint8_t *build_id, unsigned build_id_bytes)
{
	if (!VEC_GROW(m->all, m->cap, m->count + 1, MODULES_MAX))
		return NULL;
	struct module *one = calloc(1, sizeof(*one));
	if (!one || !(one->path = strdup(path))) {
		free(one);
		return NULL;
	}
	one->fd = -1;
	if (kind == MODULE_ELF && m->foreign < FOREIGN_MAX)
		one->fd = open_foreign(pid, path);
	m->foreign += one->fd >= 0;
	one->number = (int64_t)m->count + 1;
	one->kind = kind;
	one->pid = pid;
	one->build_id_bytes = build_id_bytes > BUILD_ID_BYTES_MAX ? BUILD_ID_BYTES_MAX : build_id_bytes;
	if (one->build_id_bytes)
		memcpy(one->build_id, build_id, one->build_id_bytes);
	m->all[m->count++] = one;
	emit_module(m, one);
	return one;
}

static enum module_kind kind_of(const char *name)
{
	if (!strcmp(name, "[vdso]"))
		return MODULE_VDSO;
	return name[0] == '/' && strncmp(name, "//anon", 6) != 0 && strncmp(name, "/memfd:", 7) != 0 ? MODULE_ELF
												     : MODULE_MEMORY;
}

/* Where the module with this key is stored; releases the key. NULL: out of memory. */
static uint64_t *slot_of(struct modules *m, struct buf *key)
{
	uint64_t *at = buf_error(key) ? NULL : map_put(&m->by_name, key->data, key->len, NULL);
	buf_release(key);
	return at;
}

struct module *modules_get(struct modules *m, int32_t pid, const char *name, const uint8_t *build_id,
		unsigned build_id_bytes)
{
	enum module_kind kind = kind_of(name);
	struct buf key = BUF_INIT;
	if (kind == MODULE_MEMORY)
		buf_addf(&key, "%d", pid);
	else
		buf_adds(&key, name);
	buf_addc(&key, '\0');
	buf_add(&key, build_id, build_id_bytes);
	uint64_t *at = slot_of(m, &key);
	if (at && !*at)
		*at = (uint64_t)(uintptr_t)add_module(m, kind, pid, kind == MODULE_MEMORY ? "[memory]" : name, build_id,
				build_id_bytes);
	return at ? (struct module *)(uintptr_t)*at : NULL;
}

struct module *modules_kernel(struct modules *m)
{
	if (!m->kernel)
		m->kernel = add_module(m, MODULE_KERNEL, 0, "[kernel]", NULL, 0);
	return m->kernel;
}

struct module *modules_python(struct modules *m, const char *source)
{
	struct buf key = BUF_INIT;
	buf_adds(&key, "python");
	buf_addc(&key, '\0');
	buf_adds(&key, source);
	uint64_t *at = slot_of(m, &key);
	if (at && !*at)
		*at = (uint64_t)(uintptr_t)add_module(m, MODULE_PYTHON, 0, source, NULL, 0);
	return at ? (struct module *)(uintptr_t)*at : NULL;
}

/* Spaces. */

static uint64_t next_version(void)
{
	static uint64_t last;
	return ++last;
}

struct space *space_new(void)
{
	struct space *s = calloc(1, sizeof(*s));
	if (s)
		*s = (struct space){ .shares = 1, .version = next_version() };
	return s;
}

struct space *space_share(struct space *s)
{
	if (s)
		s->shares++;
	return s;
}

void space_drop(struct space *s)
{
	if (!s || --s->shares)
		return;
	free(s->maps);
	free(s);
}

static bool unshare(struct space **s)
{
	struct space *old = *s, *own;
	if (old && old->shares == 1)
		return true;
	own = space_new();
	if (!own)
		return false;
	if (old && old->count) {
		own->maps = malloc(old->count * sizeof(*own->maps));
		if (!own->maps) {
			space_drop(own);
			return false;
		}
		memcpy(own->maps, old->maps, old->count * sizeof(*own->maps));
		own->count = own->cap = old->count;
	}
	space_drop(old);
	*s = own;
	return true;
}

/* Returns the index of the first mapping that ends after `address`. */
static size_t lower(const struct space *s, uint64_t address)
{
	size_t low = 0, high = s->count;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (s->maps[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void insert(struct space *s, size_t at, const struct mapping *m)
{
	memmove(&s->maps[at + 1], &s->maps[at], (s->count - at) * sizeof(*s->maps));
	s->maps[at] = *m;
	s->count++;
}

/* Removes [start, end) from the mappings. Needs room for one more. */
static size_t punch(struct space *s, uint64_t start, uint64_t end)
{
	size_t at = lower(s, start);
	if (at < s->count && s->maps[at].start < start) {
		struct mapping rest = s->maps[at];
		s->maps[at].end = start;
		at++;
		if (rest.end > end) {
			rest.offset += end - rest.start;
			rest.start = end;
			insert(s, at, &rest);
			return at;
		}
	}
	size_t gone = 0;
	while (at + gone < s->count && s->maps[at + gone].end <= end)
		gone++;
	memmove(&s->maps[at], &s->maps[at + gone], (s->count - at - gone) * sizeof(*s->maps));
	s->count -= gone;
	if (at < s->count && s->maps[at].start < end) {
		s->maps[at].offset += end - s->maps[at].start;
		s->maps[at].start = end;
	}
	return at;
}

int space_map(struct space **s, const struct mapping *m)
{
	if (m->end <= m->start)
		return -EINVAL;
	if (!unshare(s) || !VEC_GROW((*s)->maps, (*s)->cap, (*s)->count + 2, MAPPINGS_MAX))
		return -ENOMEM;
	insert(*s, punch(*s, m->start, m->end), m);
	(*s)->version = next_version();
	return 0;
}

const struct mapping *space_find(const struct space *s, uint64_t address)
{
	if (!s)
		return NULL;
	size_t at = lower(s, address);
	return at < s->count && s->maps[at].start <= address ? &s->maps[at] : NULL;
}

size_t space_count(const struct space *s)
{
	return s ? s->count : 0;
}

const struct mapping *space_at(const struct space *s, size_t i)
{
	return &s->maps[i];
}

uint64_t space_version(const struct space *s)
{
	return s ? s->version : 0;
}

static void parse_line(struct modules *m, struct space **s, int32_t pid, char *line)
{
	unsigned long long start, end, offset;
	char prot[5];
	int path = 0;
	if (sscanf(line, "%llx-%llx %4s %llx %*x:%*x %*u %n", &start, &end, prot, &offset, &path) < 4 ||
			prot[2] != 'x' || !path || !strncmp(line + path, "[vsyscall]", 10))
		return;
	line[strcspn(line, "\n")] = '\0';
	struct mapping one = { .start = start, .end = end, .offset = offset };
	one.module = modules_get(m, pid, line + path, NULL, 0);
	if (one.module && one.module->kind == MODULE_MEMORY)
		one.offset = start;
	if (one.module)
		space_map(s, &one);
}

struct space *space_read(struct modules *m, int32_t pid)
{
	char path[32], line[LINE_BYTES];
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	struct space *s = f ? space_new() : NULL;
	while (s && fgets(line, sizeof(line), f))
		parse_line(m, &s, pid, line);
	if (f)
		fclose(f);
	return s;
}

/* Files of modules. */

bool elf_file_get(const struct elf_file *f, uint64_t offset, void *out, size_t n)
{
	if (offset > f->bytes || n > f->bytes - offset)
		return false;
	if (f->memory) {
		memcpy(out, f->memory + offset, n);
		return true;
	}
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(f->fd, (char *)out + done, n - done, (off_t)(offset + done));
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static int open_regular(const char *path, struct elf_file *f)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -1;
	}
	f->bytes = (uint64_t)st.st_size;
	return fd;
}

bool elf_file_open(struct elf_file *f, const struct module *m)
{
	char path[4200];
	*f = (struct elf_file){ .fd = -1 };
	if (m->kind == MODULE_VDSO) {
		Elf64_Ehdr e;
		f->memory = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
		f->bytes = VDSO_BYTES_MAX;
		if (!f->memory || !elf_file_get(f, 0, &e, sizeof(e)))
			return false;
		uint64_t bytes = e.e_shoff + (uint64_t)e.e_shnum * e.e_shentsize;
		f->bytes = bytes < VDSO_BYTES_MAX ? bytes : VDSO_BYTES_MAX;
		return true;
	}
	if (m->kind != MODULE_ELF)
		return false;
	if (m->fd >= 0) {
		struct stat st;
		f->fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 0);
		f->bytes = f->fd >= 0 && !fstat(f->fd, &st) ? (uint64_t)st.st_size : 0;
		return f->fd >= 0;
	}
	int n = snprintf(path, sizeof(path), "/proc/%d/root%s", m->pid, m->path);
	if (n > 0 && (size_t)n < sizeof(path))
		f->fd = open_regular(path, f);
	if (f->fd < 0)
		f->fd = open_regular(m->path, f);
	return f->fd >= 0;
}

void elf_file_close(struct elf_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

void *elf_file_section(const struct elf_file *f, const Elf64_Shdr *s, uint64_t max)
{
	char *bytes = s->sh_type != SHT_NOBITS && s->sh_size <= max ? malloc(s->sh_size + 1) : NULL;
	if (bytes && !elf_file_get(f, s->sh_offset, bytes, s->sh_size)) {
		free(bytes);
		return NULL;
	}
	if (bytes)
		bytes[s->sh_size] = '\0';
	return bytes;
}

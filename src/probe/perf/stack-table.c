#include "probe/perf/stack-table.h"

#include "base/cleanup.h"
#include "base/elf-symbols.h"
#include "base/fs.h"
#include "base/vec.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KALLSYMS_BYTES_MAX ((size_t)64 << 20)
#define MAP_BYTES_MAX ((size_t)256 << 20)
#define NAME_BYTES_MAX 1024
#define SYMBOLS_BYTES_MAX ((uint64_t)64 << 20)
#define VDSO_BYTES_MAX ((uint64_t)64 << 10)
#define STACKS_MAX (1u << 24)

/*
 * Names of functions of the kernel, the vdso, and JIT-compiled code listed in /tmp/perf-PID.map.
 *
 * The kernel needs 40 ms to generate /proc/kallsyms, so a copy is cached until
 * the next boot or change of kernel modules. It is sorted by address and
 * searched as text. Perf maps of JIT compilers are written by the program and
 * untrusted: they are bounds-checked, and used only for that program's own
 * code.
 */

static void emit(struct store_sink *sink, const struct module *m, uint64_t start, int64_t bytes, const char *name,
		size_t name_bytes)
{
	if (name_bytes > NAME_BYTES_MAX)
		name_bytes = NAME_BYTES_MAX;
	struct store_symbol row = { .module = m->number,
		.start = (int64_t)start,
		.bytes = bytes,
		.name = store_strings_id(&sink->strings, name, name_bytes) };
	store_sink_add(sink, STORE_TABLE_SYMBOL, &row);
}

/* The kernel. */

/* Path of the cached copy: in the user's cache, by boot and set of modules. */
static bool cache_path(struct buf *out)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	CLEANUP(buf_release) struct buf boot = BUF_INIT;
	CLEANUP(buf_release) struct buf modules = BUF_INIT;
	if (fs_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 64, &boot, NULL))
		return false;
	fs_read_file(AT_FDCWD, "/proc/modules", 1 << 20, &modules, NULL);
	uint64_t hash = 0xcbf29ce484222325u;
	for (size_t i = 0; i < modules.len; i++)
		hash = (hash ^ (uint8_t)modules.data[i]) * 0x100000001b3u;
	if (cache && *cache == '/')
		buf_addf(out, "%s/sonde", cache);
	else if (home && *home == '/')
		buf_addf(out, "%s/.cache/sonde", home);
	else
		return false;
	if (fs_mkdir_p(out->data, 0700, NULL))
		return false;
	buf_addf(out, "/kallsyms-%.36s-%016llx", boot.data, (unsigned long long)hash);
	return !buf_error(out);
}

/* Complete lines. */
struct lines {
	const char *text;
	size_t bytes;
	bool is_mapped; /* else allocated with malloc */
};

static void lines_release(struct lines *l)
{
	if (l->is_mapped)
		munmap((void *)(uintptr_t)l->text, l->bytes);
	else
		free((void *)(uintptr_t)l->text);
}

/* The copy is mapped, not read: a search touches only a few pages of its megabytes. */
static bool map_copy(const char *path, struct lines *out)
{
	struct stat st;
	CLEANUP(cleanup_fd) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022 ||
			st.st_size <= 0 || (uint64_t)st.st_size > KALLSYMS_BYTES_MAX)
		return false;
	void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return false;
	*out = (struct lines){ .text = at, .bytes = (size_t)st.st_size, .is_mapped = true };
	if (out->text[out->bytes - 1] == '\n')
		return true;
	lines_release(out);
	return false;
}

static bool read_kallsyms(struct lines *out)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool has_path = cache_path(&path);
	if (has_path && map_copy(path.data, out))
		return true;
	if (fs_read_file(AT_FDCWD, "/proc/kallsyms", KALLSYMS_BYTES_MAX, &text, NULL) || !text.len ||
			!strncmp(text.data, "0000000000000000 ", 17) || text.data[text.len - 1] != '\n')
		return false;
	if (has_path)
		fs_replace_file(AT_FDCWD, path.data, text.data, text.len, NULL);
	out->bytes = text.len;
	out->text = buf_take(&text);
	out->is_mapped = false;
	return out->text;
}

static const char *line_start(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

static const char *next_line(const char *at, const char *end)
{
	const char *nl = memchr(at, '\n', (size_t)(end - at));
	return nl ? nl + 1 : end;
}

/* Returns the last line with an address of at most `address`; NULL if none. */
static const char *search(const struct lines *l, uint64_t address)
{
	const char *low = l->text, *high = l->text + l->bytes, *found = NULL;
	while (low < high) {
		const char *mid = line_start(l->text, low + (high - low) / 2);
		if (mid < low)
			mid = low;
		if (strtoull(mid, NULL, 16) <= address) {
			found = mid;
			low = next_line(mid, l->text + l->bytes);
		} else {
			high = mid;
		}
	}
	return found;
}

/* Several names may share an address: returns the first function of them. */
static const char *first_function(const struct lines *l, const char *line)
{
	uint64_t address = strtoull(line, NULL, 16);
	const char *best = line;
	for (const char *at = line; at > l->text && strtoull(at, NULL, 16) == address; at = line_start(l->text, at - 1))
		if (next_line(at, l->text + l->bytes) - at > 20 && strchr("tTwW", at[17]))
			best = at;
	return best;
}

static void name_kernel(struct store_sink *sink, const struct stacks_address *a, size_t count)
{
	struct lines l;
	const char *last = NULL;
	if (!read_kallsyms(&l))
		return;
	const char *all_end = l.text + l.bytes;
	for (size_t i = 0; i < count; i++) {
		const char *line = search(&l, a[i].address);
		const char *end = line ? next_line(line, all_end) : NULL;
		if (!line || end - line < 20 || line == last)
			continue;
		last = line;
		uint64_t start = strtoull(line, NULL, 16), next = end < all_end ? strtoull(end, NULL, 16) : 0;
		const char *name = first_function(&l, line) + 19;
		emit(sink, a->module, start, next > start ? (int64_t)(next - start) : STORE_NULL, name,
				strcspn(name, "\t\n "));
	}
	lines_release(&l);
}

/* Code in memory. */

static void name_range(struct store_sink *sink, const struct stacks_address *a, size_t count, uint64_t start,
		uint64_t bytes, const char *name, size_t name_bytes)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (a[mid].address < start)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < count && a[low].address - start < bytes)
		emit(sink, a->module, start, (int64_t)bytes, name, name_bytes);
}

/* "START SIZE name" in hexadecimal; moved code is listed again, and the last entry is valid. */
static void name_memory(struct store_sink *sink, const struct stacks_address *a, size_t count)
{
	char path[64];
	struct stat st;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", a->module->pid);
	if (lstat(path, &st) || !S_ISREG(st.st_mode) || fs_read_file(AT_FDCWD, path, MAP_BYTES_MAX, &text, NULL))
		return;
	const char *end = text.data + text.len;
	for (const char *at = text.data; at < end; at = next_line(at, end)) {
		char *rest;
		uint64_t start = strtoull(at, &rest, 16), bytes = *rest == ' ' ? strtoull(rest, &rest, 16) : 0;
		if (*rest == ' ' && bytes && rest < end)
			name_range(sink, a, count, start, bytes, rest + 1, strcspn(rest + 1, "\n"));
	}
}

/* The vdso is the same in every process, including ours. */
static void name_vdso(struct store_sink *sink, const struct stacks_address *a, size_t count)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *e = (const void *)at;
	uint64_t bytes = at ? e->e_shoff + (uint64_t)e->e_shnum * sizeof(Elf64_Shdr) : 0; /* section headers are last */
	struct elf_symbols table;
	struct elf_function f;
	if (!at || bytes > VDSO_BYTES_MAX || !elf_symbols(at, (size_t)bytes, &table))
		return;
	for (size_t i = table.count; i-- > 0;)
		if (elf_function(&table, i, &f) && f.end > f.at)
			name_range(sink, a, count, f.at, f.end - f.at, f.name, strlen(f.name));
}

/* Returns the difference between address and file offset of the code. */
static uint64_t code_delta(const struct elf_file *f, const Elf64_Ehdr *e)
{
	Elf64_Phdr p;
	for (unsigned i = 0; i < e->e_phnum; i++)
		if (elf_file_get(f, e->e_phoff + i * sizeof(p), &p, sizeof(p)) && p.p_type == PT_LOAD &&
				p.p_flags & PF_X)
			return p.p_vaddr - p.p_offset;
	return 0;
}

static void name_by_table(struct store_sink *sink, const struct stacks_address *a, size_t count,
		const struct elf_file *f, const Elf64_Shdr *table, const Elf64_Shdr *names, uint64_t delta)
{
	Elf64_Sym *sym = elf_file_section(f, table, SYMBOLS_BYTES_MAX);
	char *text = elf_file_section(f, names, SYMBOLS_BYTES_MAX);
	for (size_t n = sym && text ? table->sh_size / sizeof(*sym) : 0; n-- > 0;)
		if (ELF64_ST_TYPE(sym[n].st_info) == STT_FUNC && sym[n].st_size && sym[n].st_name < names->sh_size)
			name_range(sink, a, count, sym[n].st_value - delta, sym[n].st_size, text + sym[n].st_name,
					strlen(text + sym[n].st_name));
	free(sym);
	free(text);
}

/* A file that only its process can open by path. Symbols have addresses, frames file offsets. */
static void name_foreign(struct store_sink *sink, const struct stacks_address *a, size_t count)
{
	struct elf_file f;
	Elf64_Ehdr e;
	if (a->module->fd < 0 || !elf_file_open(&f, a->module))
		return;
	if (elf_file_get(&f, 0, &e, sizeof(e)) && !memcmp(e.e_ident, ELFMAG, SELFMAG) &&
			e.e_ident[EI_CLASS] == ELFCLASS64 && e.e_phentsize == sizeof(Elf64_Phdr) &&
			e.e_shentsize == sizeof(Elf64_Shdr)) {
		uint64_t delta = code_delta(&f, &e);
		for (unsigned i = 0; i < e.e_shnum; i++) {
			Elf64_Shdr table, names;
			if (elf_file_get(&f, e.e_shoff + i * sizeof(table), &table, sizeof(table)) &&
					(table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) &&
					table.sh_link < e.e_shnum &&
					elf_file_get(&f, e.e_shoff + table.sh_link * sizeof(names), &names,
							sizeof(names)))
				name_by_table(sink, a, count, &f, &table, &names, delta);
		}
	}
	elf_file_close(&f);
}

static void name_nothing(struct store_sink *sink, const struct stacks_address *a, size_t count)
{
	(void)sink;
	(void)a;
	(void)count;
}

static void (*const namers[])(struct store_sink *, const struct stacks_address *, size_t) = {
	[MODULE_ELF] = name_foreign,
	[MODULE_VDSO] = name_vdso,
	[MODULE_KERNEL] = name_kernel,
	[MODULE_MEMORY] = name_memory,
	[MODULE_PYTHON] = name_nothing, /* named by python/walk.c */
};

/* Writes rows of the table symbol for these addresses: of one module, ascending. Unknown ones get no row. */
static void names_emit(struct store_sink *sink, const struct stacks_address *addresses, size_t count)
{
	namers[addresses->module->kind](sink, addresses, count);
}

/* Chains. */

void stacks_init(struct stacks *s, struct store_sink *sink)
{
	memset(s, 0, sizeof(*s));
	s->sink = sink;
}

void stacks_release(struct stacks *s)
{
	map_release(&s->ids);
	free(s->unnamed);
	memset(s, 0, sizeof(*s));
}

static void remember(struct stacks *s, const struct module *module, uint64_t address)
{
	if (!VEC_GROW(s->unnamed, s->unnamed_cap, s->unnamed_count + 1, STACKS_MAX))
		return;
	s->unnamed[s->unnamed_count++] = (struct stacks_address){ module, address };
}

int64_t stacks_add(struct stacks *s, int64_t parent, const struct module *module, uint64_t address)
{
	struct {
		int64_t parent, module;
		uint64_t address;
	} key = { parent, module ? module->number : STORE_NULL, address };
	bool is_new;
	if (s->ids.count >= STACKS_MAX)
		return parent;
	uint64_t *id = map_put(&s->ids, &key, sizeof(key), &is_new);
	if (!id)
		return STORE_NULL;
	if (!is_new)
		return (int64_t)*id;
	*id = s->ids.count;
	struct store_stack row = { .stack = (int64_t)*id,
		.parent = parent,
		.module = key.module,
		.address = (int64_t)address };
	store_sink_add(s->sink, STORE_TABLE_STACK, &row);
	if (module && (module->kind != MODULE_ELF || module->fd >= 0))
		remember(s, module, address);
	return row.stack;
}

static int by_place(const void *a, const void *b)
{
	const struct stacks_address *x = a, *y = b;
	if (x->module != y->module)
		return x->module->number < y->module->number ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

void stacks_name(struct stacks *s)
{
	size_t kept = 0;
	if (!s->unnamed_count)
		return;
	qsort(s->unnamed, s->unnamed_count, sizeof(*s->unnamed), by_place);
	for (size_t i = 0; i < s->unnamed_count; i++)
		if (!i || by_place(&s->unnamed[i], &s->unnamed[kept - 1]))
			s->unnamed[kept++] = s->unnamed[i];
	for (size_t from = 0, to; from < kept; from = to) {
		for (to = from; to < kept && s->unnamed[to].module == s->unnamed[from].module; to++)
			;
		names_emit(s->sink, s->unnamed + from, to - from);
	}
	s->unnamed_count = 0;
}

#include "record/emit.h"

#include "base/elf-symbols.h"
#include "base/map.h"
#include "base/vec.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULES_MAX 4096

struct symbol {
	uint64_t at, end;
	const char *name; /* in the mapped file */
};

struct module {
	uint64_t bias, end;
	char *path;
	bool is_read;
	const uint8_t *file;
	size_t file_bytes;
	struct symbol *symbols;
	size_t count;
};

struct symbols {
	struct module *modules;
	size_t count, cap;
	struct map names; /* address -> string id */
};

void symbols_add(struct symbols **s, uint64_t bias, uint64_t end, const char *path, size_t path_bytes)
{
	if (!*s)
		*s = calloc(1, sizeof(**s));
	struct symbols *t = *s;
	if (!t || !VEC_GROW(t->modules, t->cap, t->count + 1, MODULES_MAX))
		return;
	t->modules[t->count++] = (struct module){ .bias = bias, .end = end, .path = strndup(path, path_bytes) };
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

static void read_elf(struct module *m)
{
	struct elf_symbols table;
	struct elf_function f;
	if (!elf_symbols(m->file, m->file_bytes, &table))
		return;
	m->symbols = calloc(table.count, sizeof(*m->symbols));
	for (size_t i = 0; m->symbols && i < table.count; i++)
		if (elf_function(&table, i, &f))
			m->symbols[m->count++] = (struct symbol){ .at = f.at, .end = f.end, .name = f.name };
	if (m->symbols && m->count)
		qsort(m->symbols, m->count, sizeof(*m->symbols), by_address);
}

static void read_module(struct module *m)
{
	struct stat st;
	m->is_read = true;
	int fd = m->path ? open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at != MAP_FAILED) {
			m->file = at;
			m->file_bytes = (size_t)st.st_size;
			read_elf(m);
		}
	}
	close(fd);
}

static const struct symbol *find_symbol(const struct module *m, uint64_t at)
{
	size_t low = 0, high = m->count;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (m->symbols[mid].at <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low && (at < m->symbols[low - 1].end || m->symbols[low - 1].at == at) ? &m->symbols[low - 1] : NULL;
}

static void name_address(struct symbols *s, uint64_t address, char *out, size_t room)
{
	struct module *m = NULL;
	for (size_t i = 0; i < s->count; i++)
		if (address >= s->modules[i].bias && address < s->modules[i].end)
			m = &s->modules[i]; /* the newest mapping has priority */
	if (!m) {
		snprintf(out, room, "0x%llx", (unsigned long long)address);
		return;
	}
	if (!m->is_read)
		read_module(m);
	const struct symbol *found = find_symbol(m, address - m->bias);
	if (!found)
		found = find_symbol(m, address); /* a program linked to a fixed address */
	if (found)
		snprintf(out, room, "%s", found->name);
	else
		snprintf(out, room, "%s+0x%llx", m->path ? m->path : "?", (unsigned long long)(address - m->bias));
}

int64_t symbols_name(struct symbols **s, struct store_strings *strings, uint64_t address)
{
	bool is_new = false;
	char name[512];
	if (!*s)
		*s = calloc(1, sizeof(**s));
	uint64_t *id = *s ? map_put_int(&(*s)->names, address, &is_new) : NULL;
	if (!id)
		return STORE_NULL;
	if (is_new) {
		name_address(*s, address, name, sizeof(name));
		*id = (uint64_t)store_strings_of(strings, name);
	}
	return (int64_t)*id;
}

void symbols_free(struct symbols *s)
{
	for (size_t i = 0; s && i < s->count; i++) {
		if (s->modules[i].file)
			munmap((void *)(uintptr_t)s->modules[i].file, s->modules[i].file_bytes);
		free(s->modules[i].symbols);
		free(s->modules[i].path);
	}
	if (s) {
		free(s->modules);
		map_release(&s->names);
	}
	free(s);
}

/*
 * Names of code addresses, from the symbol tables of the mapped files. Each address is looked up once; the results are
 * kept in a table that grows with the number of the program's functions.
 */
#include "base/elf-symbols.h"
#include "pfw/log-private.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MODULES_MAX 512
#define FIRST_SLOTS 1024

struct module {
	uint64_t bias, end;
	const struct name *path;
	bool is_read;
	const uint8_t *file;
	size_t file_bytes;
	struct elf_symbols symbols;
};

struct found {
	uint64_t address; /* 0: unused */
	struct name *name;
	const struct name *object;
};

struct code {
	struct module modules[MODULES_MAX];
	size_t module_count;
	struct found *found;
	size_t slots, count;
};

static struct code *code_get(struct code **s)
{
	if (!*s)
		*s = log_memory(sizeof(**s));
	return *s;
}

void code_module(struct code **s, uint64_t bias, uint64_t end, const struct name *path)
{
	struct code *t = code_get(s);
	if (t && path && t->module_count < MODULES_MAX)
		t->modules[t->module_count++] = (struct module){ .bias = bias, .end = end, .path = path };
}

/* Files. */

static void read_module(struct module *m)
{
	struct stat st;
	char path[PFWLOG_PATH_BYTES];
	m->is_read = true;
	if (m->path->bytes >= sizeof(path))
		return;
	memcpy(path, m->path->text, m->path->bytes);
	path[m->path->bytes] = '\0';
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (!sys2(SYS_fstat, fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		m->file_bytes = (size_t)st.st_size;
		m->file = sys_map(m->file_bytes, PROT_READ, MAP_PRIVATE, fd);
		if (m->file)
			elf_symbols(m->file, m->file_bytes, &m->symbols);
	}
	sys_close(fd);
}

static const char *name_in(const struct module *m, uint64_t at)
{
	struct elf_function f;
	for (size_t i = 0; i < m->symbols.count; i++)
		if (elf_function(&m->symbols, i, &f) && at >= f.at && (at < f.end || at == f.at))
			return f.name;
	return NULL;
}

/* Lookup. */

static struct name *look_up(struct code *s, struct names *names, uint64_t address, const struct name **object)
{
	struct module *m = NULL;
	char raw[24], *end;
	const char *text = NULL;
	for (size_t i = 0; i < s->module_count; i++)
		if (address >= s->modules[i].bias && address < s->modules[i].end)
			m = &s->modules[i]; /* the newest mapping wins */
	if (m && !m->is_read)
		read_module(m);
	if (m)
		text = name_in(m, address - m->bias);
	if (m && !text)
		text = name_in(m, address); /* a program linked at a fixed address */
	*object = m ? m->path : NULL;
	if (text)
		return names_put(names, text, strlen(text));
	end = put_hex(PUT(raw, "0x"), address);
	return names_put(names, raw, (size_t)(end - raw));
}

static struct found *slot_of(const struct code *s, uint64_t address)
{
	size_t i = (address * 0x9e3779b97f4a7c15ull >> 32) & (s->slots - 1);
	while (s->found[i].address && s->found[i].address != address)
		i = (i + 1) & (s->slots - 1);
	return &s->found[i];
}

static bool grow(struct code *s)
{
	struct found *old = s->found;
	size_t old_slots = s->slots;
	size_t slots = s->slots ? 2 * s->slots : FIRST_SLOTS;
	struct found *fresh = log_memory(slots * sizeof(*fresh));
	if (!fresh)
		return false;
	s->found = fresh;
	s->slots = slots;
	for (size_t i = 0; i < old_slots; i++)
		if (old[i].address)
			*slot_of(s, old[i].address) = old[i];
	if (old)
		sys2(SYS_munmap, old, old_slots * sizeof(*old));
	return true;
}

struct name *code_find(struct code **s, struct names *names, uint64_t address, const struct name **object)
{
	struct code *t = code_get(s);
	if (!t || !address || (2 * t->count >= t->slots && !grow(t)))
		return NULL;
	struct found *f = slot_of(t, address);
	if (!f->address) {
		f->address = address;
		f->name = look_up(t, names, address, &f->object);
		t->count++;
	}
	*object = f->object;
	return f->name;
}

void code_free(struct code *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->module_count; i++)
		if (s->modules[i].file)
			sys2(SYS_munmap, s->modules[i].file, s->modules[i].file_bytes);
	if (s->found)
		sys2(SYS_munmap, s->found, s->slots * sizeof(*s->found));
	sys2(SYS_munmap, s, sizeof(*s));
}

#include "probe/python/python-image.h"

#include "probe/perf/module-file.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SECTIONS_MAX 512
#define PHDRS_MAX 64
#define SYMBOLS_BYTES_MAX ((uint64_t)16 << 20)

struct wanted {
	const char *name;
	size_t at; /* in struct python_image */
};

static const struct wanted wanted[] = {
	{ "_PyRuntime", offsetof(struct python_image, runtime) },
	{ "Py_Version", offsetof(struct python_image, version) },
	{ "PyCode_Type", offsetof(struct python_image, code_type) },
};

#define EVAL "_PyEval_EvalFrameDefault"

static void *get_section(const struct elf_file *f, const Elf64_Shdr *s)
{
	uint8_t *bytes = s->sh_type != SHT_NOBITS && s->sh_size && s->sh_size <= SYMBOLS_BYTES_MAX
			? malloc(s->sh_size + 1)
			: NULL;
	if (bytes && !elf_file_get(f, s->sh_offset, bytes, s->sh_size)) {
		free(bytes);
		return NULL;
	}
	if (bytes)
		bytes[s->sh_size] = '\0';
	return bytes;
}

static void take_symbol(struct python_image *image, const Elf64_Sym *sym, const char *name)
{
	if (!strcmp(name, EVAL)) {
		image->eval_start = sym->st_value;
		image->eval_end = sym->st_value + sym->st_size;
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!strcmp(name, wanted[i].name))
			memcpy((char *)image + wanted[i].at, &sym->st_value, sizeof(uint64_t));
}

static void read_symbols(struct python_image *image, const struct elf_file *f, const Elf64_Shdr *table,
		const Elf64_Shdr *names)
{
	Elf64_Sym *syms = get_section(f, table);
	char *text = get_section(f, names);
	for (size_t i = 0; syms && text && i < table->sh_size / sizeof(*syms); i++)
		if (syms[i].st_shndx != SHN_UNDEF && syms[i].st_name < names->sh_size)
			take_symbol(image, &syms[i], text + syms[i].st_name);
	free(syms);
	free(text);
}

/* Reads symbols only of files with a matching name, or with the section that interpreters have. */
static bool is_likely(const struct module *m, const struct elf_file *f, const Elf64_Shdr *s, const Elf64_Ehdr *e)
{
	char name[sizeof(".PyRuntime")];
	const char *base = strrchr(m->path, '/');
	base = base ? base + 1 : m->path;
	if (!strncmp(base, "python", 6) || !strncmp(base, "libpython", 9))
		return true;
	for (unsigned i = 0; i < e->e_shnum; i++)
		if (elf_file_get(f, s[e->e_shstrndx].sh_offset + s[i].sh_name, name, sizeof(name)) &&
				!memcmp(name, ".PyRuntime", sizeof(name)))
			return true;
	return false;
}

static bool read_head(const struct elf_file *f, Elf64_Ehdr *e, Elf64_Shdr *s, struct python_image *image)
{
	Elf64_Phdr p[PHDRS_MAX];
	if (!elf_file_get(f, 0, e, sizeof(*e)) || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
			e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_shentsize != sizeof(*s) ||
			e->e_shnum > SECTIONS_MAX || e->e_shstrndx >= e->e_shnum || e->e_phentsize != sizeof(*p) ||
			e->e_phnum > PHDRS_MAX || !elf_file_get(f, e->e_phoff, p, e->e_phnum * sizeof(*p)) ||
			!elf_file_get(f, e->e_shoff, s, e->e_shnum * sizeof(*s)))
		return false;
	for (unsigned i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X)
			image->code_delta = p[i].p_vaddr - p[i].p_offset;
	return true;
}

static bool read_image(struct module *m, const struct elf_file *f, struct python_image *image)
{
	Elf64_Ehdr e;
	Elf64_Shdr *s = calloc(SECTIONS_MAX, sizeof(*s));
	if (s && read_head(f, &e, s, image) && is_likely(m, f, s, &e))
		for (unsigned i = 0; i < e.e_shnum && !image->runtime; i++)
			if ((s[i].sh_type == SHT_DYNSYM || s[i].sh_type == SHT_SYMTAB) && s[i].sh_link < e.e_shnum)
				read_symbols(image, f, &s[i], &s[s[i].sh_link]);
	free(s);
	image->eval_start -= image->code_delta;
	image->eval_end -= image->code_delta;
	/* Versions before 3.7 have no runtime: found, to be rejected. */
	return image->runtime || (image->code_type && !image->version);
}

const struct python_image *python_image_of(struct module *m)
{
	struct elf_file f;
	if (m->was_asked_for_python || m->kind != MODULE_ELF)
		return m->python;
	m->was_asked_for_python = true;
	struct python_image *image = calloc(1, sizeof(*image));
	if (image && elf_file_open(&f, m)) {
		if (read_image(m, &f, image)) {
			m->python = image;
			image = NULL;
		}
		elf_file_close(&f);
	}
	free(image);
	return m->python;
}

#include "base/elf-symbols.h"

#include <elf.h>
#include <string.h>

struct file {
	const uint8_t *at;
	size_t bytes;
};

static const void *bytes_at(const struct file *f, uint64_t offset, uint64_t bytes)
{
	return offset <= f->bytes && bytes <= f->bytes - offset ? f->at + offset : NULL;
}

static bool head_of(const struct file *f, Elf64_Ehdr *e)
{
	const void *at = bytes_at(f, 0, sizeof(*e));
	if (!at)
		return false;
	memcpy(e, at, sizeof(*e));
	return !memcmp(e->e_ident, ELFMAG, SELFMAG) && e->e_ident[EI_CLASS] == ELFCLASS64 &&
			e->e_shentsize == sizeof(Elf64_Shdr);
}

static bool section_at(const struct file *f, const Elf64_Ehdr *e, unsigned i, Elf64_Shdr *section)
{
	uint64_t offset;
	if (i >= e->e_shnum || __builtin_add_overflow(e->e_shoff, (uint64_t)i * sizeof(*section), &offset))
		return false;
	const void *at = bytes_at(f, offset, sizeof(*section));
	if (at)
		memcpy(section, at, sizeof(*section));
	return at != NULL;
}

static bool read_table(const struct file *f, const Elf64_Shdr *table, const Elf64_Shdr *names, struct elf_symbols *out)
{
	const void *symbols = bytes_at(f, table->sh_offset, table->sh_size);
	const char *text = bytes_at(f, names->sh_offset, names->sh_size);
	if (!symbols || !text || !names->sh_size || text[names->sh_size - 1])
		return false;
	*out = (struct elf_symbols){ .table = symbols,
		.count = (size_t)(table->sh_size / sizeof(Elf64_Sym)),
		.names = text,
		.names_bytes = (size_t)names->sh_size };
	return true;
}

bool elf_symbols(const void *file, size_t bytes, struct elf_symbols *out)
{
	const struct file f = { .at = file, .bytes = bytes };
	Elf64_Ehdr e;
	Elf64_Shdr one, best = { .sh_type = SHT_NULL }, names;
	if (!head_of(&f, &e))
		return false;
	for (unsigned i = 0; section_at(&f, &e, i, &one); i++)
		if (one.sh_type == SHT_SYMTAB || (one.sh_type == SHT_DYNSYM && best.sh_type == SHT_NULL))
			best = one;
	return best.sh_type != SHT_NULL && section_at(&f, &e, best.sh_link, &names) &&
			read_table(&f, &best, &names, out);
}

bool elf_function(const struct elf_symbols *s, size_t i, struct elf_function *out)
{
	Elf64_Sym symbol;
	if (i >= s->count)
		return false;
	memcpy(&symbol, s->table + i * sizeof(symbol), sizeof(symbol));
	if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !symbol.st_value || symbol.st_name >= s->names_bytes)
		return false;
	out->at = symbol.st_value;
	if (__builtin_add_overflow(symbol.st_value, symbol.st_size, &out->end))
		out->end = UINT64_MAX;
	out->name = s->names + symbol.st_name;
	return true;
}

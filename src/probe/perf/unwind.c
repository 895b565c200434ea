/* unwind-table: the frame rules of one module, read from its file at first use. Private to unwind. */
#include "probe/perf/unwind.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define LOADS_MAX 32
#define PHDRS_MAX 64
#define TABLE_BYTES_MAX ((uint64_t)256 << 20)
#define CACHE_ROWS 512 /* a power of two */

/* Frame rules of a module, read from its file at first use. */

struct load {
	uint64_t address, offset, bytes;
	bool is_code;
};

struct unwind_table {
	struct cfi cfi;
	struct load loads[LOADS_MAX];
	unsigned load_count;
	uint8_t *bytes; /* both sections */
	bool is_usable;
	struct cached {
		uint64_t address; /* 0: free */
		bool is_there;
		struct cfi_row row;
	} * cache;
};

static const struct load *load_of(const struct unwind_table *t, uint64_t address)
{
	for (unsigned i = 0; i < t->load_count; i++)
		if (address >= t->loads[i].address && address - t->loads[i].address < t->loads[i].bytes)
			return &t->loads[i];
	return NULL;
}

/* .eh_frame_hdr has the start of .eh_frame, which ends at the end of its segment at the latest. */
static bool read_sections(struct unwind_table *t, const struct elf_file *s, const Elf64_Phdr *hdr)
{
	uint8_t head[12];
	int32_t relative;
	if (hdr->p_filesz < sizeof(head) || hdr->p_filesz > TABLE_BYTES_MAX ||
			!elf_file_get(s, hdr->p_offset, head, sizeof(head)) || head[0] != 1 || head[1] != 0x1b)
		return false;
	memcpy(&relative, head + 4, sizeof(relative));
	uint64_t frame = hdr->p_vaddr + 4 + (uint64_t)(int64_t)relative;
	const struct load *l = load_of(t, frame);
	if (!l)
		return false;
	uint64_t frame_bytes = l->bytes - (frame - l->address);
	if (frame_bytes > TABLE_BYTES_MAX)
		return false;
	t->bytes = malloc(hdr->p_filesz + frame_bytes);
	if (!t->bytes || !elf_file_get(s, hdr->p_offset, t->bytes, hdr->p_filesz) ||
			!elf_file_get(s, l->offset + (frame - l->address), t->bytes + hdr->p_filesz, frame_bytes))
		return false;
	t->cfi = (struct cfi){ .hdr = t->bytes,
		.hdr_bytes = hdr->p_filesz,
		.hdr_address = hdr->p_vaddr,
		.frame = t->bytes + hdr->p_filesz,
		.frame_bytes = frame_bytes,
		.frame_address = frame };
	return true;
}

/* A static executable: no header, but a section that can be scanned. */
static bool read_frame_section(struct unwind_table *t, const struct elf_file *s, const Elf64_Ehdr *e)
{
	Elf64_Shdr names, one;
	char name[16];
	if (e->e_shentsize != sizeof(one) || !e->e_shnum || e->e_shstrndx >= e->e_shnum ||
			!elf_file_get(s, e->e_shoff + (uint64_t)e->e_shstrndx * sizeof(one), &names, sizeof(names)))
		return false;
	for (unsigned i = 0; i < e->e_shnum; i++) {
		if (!elf_file_get(s, e->e_shoff + (uint64_t)i * sizeof(one), &one, sizeof(one)) ||
				!elf_file_get(s, names.sh_offset + one.sh_name, name, sizeof(".eh_frame")) ||
				memcmp(name, ".eh_frame", sizeof(".eh_frame")) != 0)
			continue;
		if (one.sh_type == SHT_NOBITS || one.sh_size > TABLE_BYTES_MAX ||
				!(t->bytes = malloc(one.sh_size + 1)) ||
				!elf_file_get(s, one.sh_offset, t->bytes, one.sh_size))
			return false;
		t->cfi = (struct cfi){ .frame = t->bytes, .frame_bytes = one.sh_size, .frame_address = one.sh_addr };
		return cfi_index(&t->cfi);
	}
	return false;
}

static bool read_elf(struct unwind_table *t, const struct elf_file *s)
{
	Elf64_Ehdr e;
	Elf64_Phdr p[PHDRS_MAX];
	const Elf64_Phdr *hdr = NULL;
	if (!elf_file_get(s, 0, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
			e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_phentsize != sizeof(*p) || !e.e_phnum ||
			e.e_phnum > PHDRS_MAX || !elf_file_get(s, e.e_phoff, p, e.e_phnum * sizeof(*p)))
		return false;
	for (unsigned i = 0; i < e.e_phnum; i++) {
		if (p[i].p_type == PT_LOAD && t->load_count < LOADS_MAX)
			t->loads[t->load_count++] = (struct load){ p[i].p_vaddr, p[i].p_offset, p[i].p_filesz,
				(p[i].p_flags & PF_X) != 0 };
		if (p[i].p_type == PT_GNU_EH_FRAME)
			hdr = &p[i];
	}
	return hdr ? read_sections(t, s, hdr) : read_frame_section(t, s, &e);
}

static struct unwind_table *read_table(const struct module *m)
{
	struct unwind_table *t = calloc(1, sizeof(*t));
	struct elf_file s;
	if (!t || !elf_file_open(&s, m))
		return t;
	t->cache = calloc(CACHE_ROWS, sizeof(*t->cache));
	t->is_usable = t->cache && read_elf(t, &s);
	elf_file_close(&s);
	return t;
}

void unwind_table_free(struct unwind_table *t)
{
	if (!t)
		return;
	free(t->bytes);
	free(t->cfi.entries);
	free(t->cache);
	free(t);
}

static bool address_of(const struct unwind_table *t, uint64_t offset, uint64_t *address)
{
	for (unsigned i = 0; i < t->load_count; i++)
		if (t->loads[i].is_code && offset >= t->loads[i].offset &&
				offset - t->loads[i].offset < t->loads[i].bytes) {
			*address = offset - t->loads[i].offset + t->loads[i].address;
			return true;
		}
	return false;
}

/* Returns the rules at a file offset of the module; NULL if it has none. Valid until the next call for this module. */
static const struct cfi_row *unwind_table_row(struct module *m, uint64_t offset, const struct cfi **cfi)
{
	uint64_t address;
	if (!m->table)
		m->table = read_table(m);
	struct unwind_table *t = m->table;
	if (!t || !t->is_usable || !address_of(t, offset, &address))
		return NULL;
	struct cached *c = &t->cache[(address * 0x9e3779b97f4a7c15u) >> 55 & (CACHE_ROWS - 1)];
	if (c->address != address) {
		c->address = address;
		c->is_there = cfi_find(&t->cfi, address, &c->row);
	}
	*cfi = &t->cfi;
	return c->is_there ? &c->row : NULL;
}

/* Chains. */

struct frame unwind_frame(const struct space *s, uint64_t address, bool is_call)
{
	uint64_t at = address - is_call;
	const struct mapping *m = space_find(s, at);
	if (!m)
		return (struct frame){ .address = at };
	return (struct frame){ .module = m->module,
		.address = m->module->kind == MODULE_MEMORY ? at : at - m->start + m->offset };
}

/* [rbp] is the caller's rbp, [rbp + 8] the return address, if the code follows this convention. */
static bool step_by_pointer(const struct cfi_memory *stack, uint64_t regs[CFI_REGS])
{
	uint64_t rbp, ra, from = regs[CFI_RBP];
	if (from < regs[CFI_RSP] || !cfi_load(stack, from, &rbp) || !cfi_load(stack, from + 8, &ra) || rbp <= from)
		return false;
	regs[CFI_RSP] = from + 16;
	regs[CFI_RBP] = rbp;
	regs[CFI_RA] = ra;
	return true;
}

enum step { STEP_ON, STEP_TOP, STEP_LOST };

static enum step step(const struct frame *f, const struct cfi_memory *stack, uint64_t regs[CFI_REGS], bool *is_exact)
{
	const struct cfi_row *row = NULL;
	const struct cfi *cfi = NULL;
	uint64_t sp = regs[CFI_RSP];
	*is_exact = false;
	if (f->module)
		row = unwind_table_row((struct module *)(uintptr_t)f->module, f->address, &cfi);
	if (row) {
		if (row->regs[CFI_RA].kind == CFI_UNDEFINED)
			return STEP_TOP;
		*is_exact = row->is_signal;
		if (!cfi_step(cfi, row, stack, regs))
			return STEP_LOST;
	} else if (!step_by_pointer(stack, regs)) {
		return STEP_LOST;
	}
	if (!regs[CFI_RA])
		return STEP_TOP;
	/* Every frame is above its callee's, except after a signal on an alternate stack. */
	return regs[CFI_RSP] > sp || *is_exact ? STEP_ON : STEP_LOST;
}

void unwind_user(const struct space *s, uint64_t regs[CFI_REGS], const struct cfi_memory *stack,
		struct unwind_result *out)
{
	bool is_exact = true;
	enum step how = STEP_ON;
	uint64_t sp = regs[CFI_RSP];
	out->count = 0;
	while (how == STEP_ON && out->count < UNWIND_FRAMES_MAX) {
		struct frame f = unwind_frame(s, regs[CFI_RA], !is_exact);
		if (out->count && !f.module)
			how = STEP_LOST; /* an unmapped return address is invalid */
		else
			out->frames[out->count++] = f;
		if (how == STEP_ON)
			how = step(&f, stack, regs, &is_exact);
	}
	out->is_cut = how != STEP_TOP;
	out->needed_bytes = regs[CFI_RSP] - sp;
}

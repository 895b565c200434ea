#include "probe/python/layout.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define SECTIONS_MAX 512
#define PHDRS_MAX 64
#define SYMBOLS_BYTES_MAX ((uint64_t)16 << 20)
#define EVAL "_PyEval_EvalFrameDefault"
#define OFFSET_MAX (1u << 20)
#define NEAR_MAX 1024 /* in frames and code objects */
#define WORDS_MAX 96
#define KNOWN "Python frames are read of 3.11, 3.13 and 3.14"

/* Memory of a process. */

void memory_start(struct memory *m, pid_t pid)
{
	m->pid = pid;
	m->error = 0;
	m->count = m->next = 0;
}

bool memory_get_fresh(struct memory *m, uint64_t address, void *out, size_t n)
{
	struct iovec here = { out, n };
	struct iovec there = { (void *)(uintptr_t)address, n };
	ssize_t got = process_vm_readv(m->pid, &here, 1, &there, 1, 0);
	if (got == (ssize_t)n)
		return true;
	m->error = got < 0 ? errno : EFAULT;
	return false;
}

static const uint8_t *page_at(struct memory *m, uint64_t address)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->addresses[i] == address)
			return m->pages[i];
	size_t slot = m->count < MEMORY_PAGES ? m->count : m->next++ % MEMORY_PAGES;
	m->addresses[slot] = UINT64_MAX;
	if (!memory_get_fresh(m, address, m->pages[slot], MEMORY_PAGE))
		return NULL;
	m->addresses[slot] = address;
	m->count += slot == m->count;
	return m->pages[slot];
}

bool memory_get(struct memory *m, uint64_t address, void *out, size_t n)
{
	for (size_t done = 0; done < n;) {
		uint64_t at = address + done, in = at % MEMORY_PAGE;
		size_t part = n - done < MEMORY_PAGE - in ? n - done : (size_t)(MEMORY_PAGE - in);
		const uint8_t *page = page_at(m, at - in);
		if (!page)
			return false;
		memcpy((uint8_t *)out + done, page + in, part);
		done += part;
	}
	return true;
}

bool memory_get_u64(struct memory *m, uint64_t address, uint64_t *out)
{
	return memory_get(m, address, out, sizeof(*out));
}

/* Symbols of an interpreter. */

struct wanted {
	const char *name;
	size_t at; /* in struct python_image */
};

static const struct wanted wanted[] = {
	{ "_PyRuntime", offsetof(struct python_image, runtime) },
	{ "Py_Version", offsetof(struct python_image, version) },
	{ "PyCode_Type", offsetof(struct python_image, code_type) },
};

static void match_symbol(struct python_image *image, const Elf64_Sym *sym, const char *name)
{
	if (!strcmp(name, EVAL)) {
		image->eval_start = sym->st_value;
		image->eval_end = sym->st_value + sym->st_size;
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!strcmp(name, wanted[i].name))
			memcpy((char *)image + wanted[i].at, &sym->st_value, sizeof(uint64_t));
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
			if ((s[i].sh_type == SHT_DYNSYM || s[i].sh_type == SHT_SYMTAB) && s[i].sh_link < e.e_shnum) {
				Elf64_Sym *syms = elf_file_section(f, &s[i], SYMBOLS_BYTES_MAX);
				char *text = elf_file_section(f, &s[s[i].sh_link], SYMBOLS_BYTES_MAX);
				for (size_t k = 0; syms && text && k < s[i].sh_size / sizeof(*syms); k++)
					if (syms[k].st_shndx != SHN_UNDEF && syms[k].st_name < s[s[i].sh_link].sh_size)
						match_symbol(image, &syms[k], text + syms[k].st_name);
				free(syms);
				free(text);
			}
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

/* Offsets. */

static const struct python_layout layout_3_11 = {
	.runtime_interpreters = 40,
	.interpreter_next = 0,
	.interpreter_threads = 16,
	.thread_next = 8,
	.thread_native_id = 160,
	.thread_frame = 56,
	.has_cframe = true,
	.cframe_frame = 8,
	.frame_bytes = 72,
	.frame_code = 32,
	.frame_previous = 48,
	.frame_instruction = 56,
	.has_entries = true,
	.frame_is_entry = 68,
	.frame_owner = 69,
	.code_bytes = 184,
	.code_filename = 112,
	.code_qualname = 128,
	.code_linetable = 136,
	.code_firstline = 72,
	.code_instructions = 184,
	.object_type = 8,
	.unicode_length = 16,
	.unicode_state = 32,
	.unicode_ascii_bytes = 48,
	.unicode_compact_bytes = 72,
	.unicode_kind = 2,
	.bytes_count = 16,
	.bytes_data = 32,
};

/*
 * CPython 3.13 and later have at the start of _PyRuntime (_Py_DebugOffsets): a cookie, the version, then sizes and
 * offsets of their own structures, 64 bits each, in groups. Versions differ in the position of the groups; the fields
 * that we need have the same position in a group in all of them.
 */
static const struct table {
	uint32_t version;                                                          /* 0x030d: 3.13 */
	uint8_t runtime, interpreter, thread, frame, code, object, bytes, unicode; /* words before the group */
	uint8_t words;                                                             /* number of words to read */
	uint8_t unicode_kind;
} tables[] = {
	{ 0x030d, 3, 6, 19, 28, 34, 44, 64, 67, 71, 2 },
	{ 0x030e, 3, 6, 22, 31, 39, 50, 74, 77, 81, 16 },
};
enum { WORD_VERSION = 1, WORD_FREE_THREADED, WORD_FIRST };

/* Objects of a 64-bit build have long had one layout: a table that differs is not _Py_DebugOffsets. */
static bool is_sane(const struct python_layout *l)
{
	return l->object_type == 8 && l->bytes_count == 16 && l->bytes_data == 32 && l->unicode_length == 16 &&
			l->unicode_state == 32 && l->unicode_ascii_bytes == 40 && l->code_bytes <= NEAR_MAX &&
			l->code_instructions <= NEAR_MAX && l->frame_bytes <= NEAR_MAX &&
			l->frame_owner < l->frame_bytes && l->code_linetable + 8 <= l->code_bytes &&
			l->code_filename + 8 <= l->code_bytes && l->code_qualname + 8 <= l->code_bytes &&
			l->code_firstline + 4 <= l->code_bytes && l->frame_previous + 8 <= l->frame_bytes &&
			l->frame_code + 8 <= l->frame_bytes && l->frame_instruction + 8 <= l->frame_bytes;
}

static void parse_words(struct python_layout *l, const struct table *t, const uint32_t *w)
{
	*l = (struct python_layout){
		.runtime_interpreters = w[t->runtime + 2],
		.interpreter_next = w[t->interpreter + 2],
		.interpreter_threads = w[t->interpreter + 3],
		.thread_next = w[t->thread + 2],
		.thread_frame = w[t->thread + 4],
		.thread_native_id = w[t->thread + 6],
		.frame_bytes = w[t->frame],
		.frame_previous = w[t->frame + 1],
		.frame_code = w[t->frame + 2],
		.frame_instruction = w[t->frame + 3],
		.frame_owner = w[t->frame + 5],
		.code_bytes = w[t->code],
		.code_filename = w[t->code + 1],
		.code_qualname = w[t->code + 3],
		.code_linetable = w[t->code + 4],
		.code_firstline = w[t->code + 5],
		.code_instructions = w[t->code + 9],
		.object_type = w[t->object + 1],
		.bytes_count = w[t->bytes + 1],
		.bytes_data = w[t->bytes + 2],
		.unicode_state = w[t->unicode + 1],
		.unicode_length = w[t->unicode + 2],
		.unicode_ascii_bytes = w[t->unicode + 3],
		.unicode_compact_bytes = w[t->unicode + 3] + 16, /* length and address of its UTF-8 */
		.unicode_kind = t->unicode_kind,
	};
}

static int read_table(struct python_layout *l, const struct table *t, uint64_t runtime, struct memory *memory,
		struct sonde_err *err)
{
	uint64_t words[WORDS_MAX];
	uint32_t small[WORDS_MAX] = { 0 };
	bool is_fine = true;
	if (!memory_get_fresh(memory, runtime, words, t->words * sizeof(*words)))
		return err_sys(err, memory->error, "cannot read its offsets");
	for (size_t i = WORD_FIRST; i < t->words; i++) {
		is_fine &= words[i] <= OFFSET_MAX;
		small[i] = (uint32_t)words[i];
	}
	if (memcmp(words, "xdebugpy", 8) != 0 || words[WORD_VERSION] >> 16 != t->version)
		return err_set(err, ENOTSUP, "its offsets are not where those of its version are");
	if (words[WORD_FREE_THREADED])
		return err_set(err, ENOTSUP, "it runs without the global lock");
	parse_words(l, t, small);
	return is_fine && is_sane(l) ? 0 : err_set(err, ENOTSUP, "its offsets are invalid");
}

static const struct table *table_of(uint64_t version)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (version >> 16 == tables[i].version && (version & 0xff) >= 0xf0)
			return &tables[i];
	return NULL;
}

int python_layout_of(struct python_layout *l, const struct python_image *image, uint64_t bias, struct memory *memory,
		struct sonde_err *err)
{
	uint64_t version = 0;
	int rc = 0;
	if (!image->version)
		return err_set(err, ENOTSUP, "CPython before 3.11: " KNOWN);
	if (!memory_get_fresh(memory, bias + image->version, &version, sizeof(version)))
		return err_sys(err, memory->error, "cannot read the interpreter's memory");
	if (version >> 16 == 0x030b && (version & 0xff) >= 0xf0)
		*l = layout_3_11;
	else if (table_of(version))
		rc = read_table(l, table_of(version), bias + image->runtime, memory, err);
	else
		rc = err_set(err, ENOTSUP, "CPython %u.%u%s: " KNOWN, (unsigned)(version >> 24 & 0xff),
				(unsigned)(version >> 16 & 0xff), (version & 0xff) < 0xf0 ? " before its release" : "");
	if (!rc)
		l->version = (uint32_t)version;
	return rc;
}

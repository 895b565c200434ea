#include "model/elfnames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct elfnames {
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias; /* of symbols and code */
	Elf *elf;
};

/* Search by build id only: the standard search may contact debuginfod servers. */
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_build_id_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static bool is_right(Elf *elf, const char *build_id)
{
	const void *bytes;
	char hex[129] = "";
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);

	if (!build_id)
		return true;
	for (ssize_t i = 0; i < n && i < 64; i++)
		snprintf(hex + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
	return strcmp(hex, build_id) == 0;
}

static int open_regular(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

struct elfnames *elfnames_open(const char *path, const char *build_id)
{
	struct elfnames *e = calloc(1, sizeof(*e));
	int fd = e ? open_regular(path) : -1;

	if (fd < 0)
		goto fail;
	e->dwfl = dwfl_begin(&callbacks);
	e->module = e->dwfl ? dwfl_report_offline(e->dwfl, path, path, fd) : NULL;
	if (!e->module) {
		close(fd);
		goto fail;
	}
	dwfl_report_end(e->dwfl, NULL, NULL);
	e->elf = dwfl_module_getelf(e->module, &e->bias);
	if (!e->elf || !is_right(e->elf, build_id))
		goto fail;
	return e;
fail:
	elfnames_free(e);
	return NULL;
}

void elfnames_free(struct elfnames *e)
{
	if (!e)
		return;
	if (e->dwfl)
		dwfl_end(e->dwfl);
	free(e);
}

static bool address_of(const struct elfnames *e, uint64_t offset, GElf_Addr *address)
{
	size_t count;

	if (elf_getphdrnum(e->elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(e->elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		if (offset >= p.p_offset && offset - p.p_offset < p.p_filesz) {
			*address = offset - p.p_offset + p.p_vaddr + e->bias;
			return true;
		}
	}
	return false;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &a));

	return linkage ? linkage : dwarf_diename(die);
}

static void place_of_call(Dwarf_Die *cu, Dwarf_Die *inlined, struct elfname *n)
{
	Dwarf_Attribute a;
	Dwarf_Word file, line;
	Dwarf_Files *files;

	n->source = NULL;
	n->line = 0;
	if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &a), &file) && !dwarf_getsrcfiles(cu, &files, NULL))
		n->source = dwarf_filesrc(files, file, NULL, NULL);
	if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &a), &line))
		n->line = (int)line;
}

/* The functions inlined at the address, then the one that contains it. */
static bool find_scopes(struct elfnames *e, GElf_Addr address, struct elfname *n,
		void (*say)(void *, const struct elfname *), void *arg)
{
	Dwarf_Addr bias;
	Dwarf_Die *cu = dwfl_module_addrdie(e->module, address, &bias), *scopes = NULL;
	int count = cu ? dwarf_getscopes(cu, address - bias, &scopes) : 0;
	Dwarf_Die *chain = NULL;
	bool is_found = false;

	/* Only the scopes of the innermost function; its ancestors are the functions it was inlined into. */
	for (int i = 0; i < count && !is_found; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		int depth = dwarf_getscopes_die(&scopes[i], &chain);

		for (int k = 0; k < depth; k++) {
			int kind = dwarf_tag(&chain[k]);

			if (kind != DW_TAG_inlined_subroutine && kind != DW_TAG_subprogram)
				continue;
			n->function = name_of(&chain[k]);
			if (n->function)
				say(arg, n);
			is_found |= n->function != NULL;
			if (kind == DW_TAG_subprogram)
				break;
			place_of_call(cu, &chain[k], n);
		}
		free(chain);
		break;
	}
	free(scopes);
	return is_found;
}

bool elfnames_find(struct elfnames *e, uint64_t offset, void (*say)(void *arg, const struct elfname *n), void *arg)
{
	struct elfname n = { .function = NULL };
	GElf_Addr address;
	GElf_Off within;
	GElf_Sym symbol;
	Dwfl_Line *line;

	if (!address_of(e, offset, &address))
		return false;
	line = dwfl_module_getsrc(e->module, address);
	if (line)
		n.source = dwfl_lineinfo(line, NULL, &n.line, NULL, NULL, NULL);
	if (find_scopes(e, address, &n, say, arg))
		return true;
	n.function = dwfl_module_addrinfo(e->module, address, &within, &symbol, NULL, NULL, NULL);
	if (!n.function || !*n.function)
		return false;
	say(arg, &n);
	return true;
}

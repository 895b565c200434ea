#include "model/elfnames.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/map.h"

#include <dlfcn.h>
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
			Dwarf_Attribute a;
			Dwarf_Word file, line;
			Dwarf_Files *files;
			n->source = NULL;
			n->line = 0;
			if (!dwarf_formudata(dwarf_attr(&chain[k], DW_AT_call_file, &a), &file) &&
					!dwarf_getsrcfiles(cu, &files, NULL))
				n->source = dwarf_filesrc(files, file, NULL, NULL);
			if (!dwarf_formudata(dwarf_attr(&chain[k], DW_AT_call_line, &a), &line))
				n->line = (int)line;
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

#define NAME_BYTES_MAX 16384 /* longer ones take too long, and are not readable */

typedef char *demangler(const char *name, char *room, size_t *bytes, int *status);

const char *model_demangle(struct arena *arena, const char *name)
{
	int status = -1;

	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > NAME_BYTES_MAX)
		return name;
	static bool was_tried;
	static demangler *found;
	void *library = NULL;
	if (!was_tried)
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	if (library)
		*(void **)&found = dlsym(library, "__cxa_demangle");
	was_tried = true;
	char *plain = found ? found(name, NULL, NULL, &status) : NULL;
	const char *kept = plain && status == 0 ? arena_strdup(arena, plain) : NULL;
	free(plain);
	return kept ? kept : name;
}

#define CACHE_BYTES_MAX ((size_t)64 << 20)
#define ID_BYTES_MAX 64

struct namecache {
	char *path; /* NULL: it cannot be stored */
	struct arena arena;
	struct map lines; /* offset -> text */
	bool is_new;      /* something was added */
};

static bool is_hex(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return n >= 8 && n <= ID_BYTES_MAX && !text[n];
}

static char *find_path(const char *build_id)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	if (cache && *cache == '/')
		buf_addf(&path, "%s/sonde", cache);
	else if (home && *home == '/')
		buf_addf(&path, "%s/.cache/sonde", home);
	if (!path.len || fs_mkdir_p(path.data, 0700, NULL))
		return NULL;
	buf_addf(&path, "/names-%s", build_id);
	return buf_take(&path);
}

static bool is_ours(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022);
}

static void keep(struct namecache *c, uint64_t offset, const char *line, size_t bytes)
{
	uint64_t *at = map_put_int(&c->lines, offset, NULL);
	char *copy = at ? arena_copy(&c->arena, line, bytes) : NULL;

	if (copy)
		*at = (uint64_t)(uintptr_t)copy;
}

static void load(struct namecache *c)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!is_ours(c->path) || fs_read_file(AT_FDCWD, c->path, CACHE_BYTES_MAX, &text, NULL))
		return;
	for (char *at = text.data, *end; (end = strchr(at, '\n')); at = end + 1) {
		char *rest;
		uint64_t offset = strtoull(at, &rest, 16);

		if (rest != at && (*rest == '\t' || rest == end))
			keep(c, offset, rest, (size_t)(end - rest));
	}
}

struct namecache *namecache_open(const char *build_id)
{
	struct namecache *c = build_id && is_hex(build_id) ? calloc(1, sizeof(*c)) : NULL;

	if (!c)
		return NULL;
	arena_init(&c->arena);
	c->path = find_path(build_id);
	if (c->path)
		load(c);
	return c;
}

void namecache_close(struct namecache *c)
{
	if (!c)
		return;
	if (c->path && c->is_new) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		for (size_t i = 0; i < c->lines.count; i++) {
			const char *line = (const char *)(uintptr_t)map_value(&c->lines, i);
			uint64_t offset;
			size_t len;
			memcpy(&offset, map_key(&c->lines, i, &len), sizeof(offset));
			if (line)
				buf_addf(&text, "%llx%s\n", (unsigned long long)offset, line);
		}
		if (!buf_error(&text) && text.len < CACHE_BYTES_MAX)
			fs_replace_file(AT_FDCWD, c->path, text.data, text.len, NULL);
	}
	map_release(&c->lines);
	arena_release(&c->arena);
	free(c->path);
	free(c);
}

/* Tabs and newlines end a field, and the name of a source file may contain them. */
static void add_field(struct buf *out, const char *text)
{
	buf_addc(out, '\t');
	for (; text && *text; text++)
		buf_addc(out, *text == '\t' || *text == '\n' ? ' ' : *text);
}

void namecache_add(void *entry, const struct elfname *n)
{
	struct namecache_entry *e = entry;

	add_field(&e->line, n->function);
	add_field(&e->line, n->source);
	buf_addf(&e->line, "\t%d", n->line);
}

/* The next field of a line, split off in place; NULL at the end. */
static char *take_field(char **at)
{
	char *field = *at;

	if (*field != '\t')
		return NULL;
	field++;
	*at = field + strcspn(field, "\t");
	return field;
}

static void replay(const char *line, void (*say)(void *arg, const struct elfname *n), void *arg)
{
	CLEANUP(cleanup_free) char *copy = strdup(line);
	char *at = copy;

	while (at && *at) {
		char *function = take_field(&at), *source = function ? take_field(&at) : NULL;
		char *number = source ? take_field(&at) : NULL;

		if (!number)
			return;
		source[-1] = number[-1] = '\0';
		char *next = at;
		char kept = *next;

		*next = '\0';
		struct elfname n = { .function = function,
			.source = *source ? source : NULL,
			.line = (int)strtol(number, NULL, 10) };

		say(arg, &n);
		*next = kept;
	}
}

void namecache_replay(struct namecache_entry *e, void (*say)(void *arg, const struct elfname *n), void *arg)
{
	replay(e->line.data, say, arg);
}

bool namecache_get(struct namecache *c, uint64_t offset, void (*say)(void *arg, const struct elfname *n), void *arg)
{
	const uint64_t *at = c ? map_get_int(&c->lines, offset) : NULL;

	if (!at || !*at)
		return false;
	replay((const char *)(uintptr_t)*at, say, arg);
	return true;
}

void namecache_put(struct namecache *c, uint64_t offset, struct namecache_entry *e)
{
	if (c && !buf_error(&e->line)) {
		keep(c, offset, e->line.data, e->line.len);
		c->is_new = true;
	}
	buf_release(&e->line);
}

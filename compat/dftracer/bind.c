/* Rewriting global offset tables. Only in the library that is not preloaded. */
#include "bind.h"

#include "tracer/hook.h"
#include "tracer/resolve.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#define SLOTS 2048 /* of the hash table of names; a power of two, at least twice the rows */
#define OBJECTS_MAX 2048
#define MAPS_BYTES_FIRST (256u << 10)
#define MAPS_BYTES_MAX (64u << 20)
#define PAGE ((uintptr_t)4095)

bool bind_is_pending;

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* The addresses of the hooks. Hidden: this library must not export them. */
#define ROW(how, name, names) extern const char hook_of_##name[] __asm__(#name) __attribute__((visibility("hidden")));
#include "calls/calls-each.h"
#define ROW(how, name, names) hook_of_##name,
static const char *const hooks[CALL_COUNT] = {
#include "calls/calls-each.h"
};

/* Additional names: functions that open objects or look up their symbols. */
extern const char bind_dlopen[] __attribute__((visibility("hidden")));
extern const char bind_dlmopen[] __attribute__((visibility("hidden")));
extern const char bind_dlsym[] __attribute__((visibility("hidden")));
extern const char bind_dlvsym[] __attribute__((visibility("hidden")));
static struct extra {
	const char *name;
	const char *hook;
	void *real;
} extras[] = { { "dlopen", bind_dlopen, NULL }, { "dlmopen", bind_dlmopen, NULL }, { "dlsym", bind_dlsym, NULL },
	{ "dlvsym", bind_dlvsym, NULL } };
#define EXTRAS (sizeof(extras) / sizeof(*extras))

#define STUB(name, number) \
	__asm__(".pushsection .text\n" \
		".hidden bind_" #name "\n" \
		".globl bind_" #name "\n" \
		".type bind_" #name ", @function\n" \
		"bind_" #name ":\n" \
		"	leaq before_bind_" #name "(%rip), %r11\n" \
		"	jmp call_tail\n" \
		".size bind_" #name ", . - bind_" #name "\n" \
		".popsection\n"); \
	BEFORE before_bind_##name(void) \
	{ \
		return extra_called(number); \
	}

static void *extra_called(unsigned number)
{
	int kept_errno = errno;
	if (number >= 2 && bind_is_pending)
		bind_calls();
	if (number < 2)
		bind_is_pending = true;
	errno = kept_errno;
	return extras[number].real;
}

STUB(dlopen, 0)
STUB(dlmopen, 1)
STUB(dlsym, 2)
STUB(dlvsym, 3)

/* Names. */

static uint16_t table[SLOTS]; /* 1 + row */

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;
	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		h = h * 33 + *p;
	return h ^ h >> 15;
}

/* Calls on sockets and libc's internal reads are not recorded: they are not bound. */
static bool is_bound(unsigned call)
{
	return call_info[call].dft != CALL_DFT_NO;
}

static const char *name_of(unsigned row)
{
	return row < CALL_COUNT ? call_info[row].name : extras[row - CALL_COUNT].name;
}

static int find_row(const char *name)
{
	for (uint32_t i = hash_of(name) % SLOTS; table[i]; i = (i + 1) % SLOTS)
		if (!strcmp(name_of(table[i] - 1u), name))
			return table[i] - 1;
	return -1;
}

static uintptr_t hook_address(unsigned row)
{
	return (uintptr_t)(row < CALL_COUNT ? hooks[row] : extras[row - CALL_COUNT].hook);
}

static uintptr_t real_address(unsigned row)
{
	return (uintptr_t)(row < CALL_COUNT ? next_function(row) : extras[row - CALL_COUNT].real);
}

/* Which pages are writable, from /proc/self/maps. */

static struct {
	char *text;
	size_t room, len;
} maps;

static bool maps_read(void)
{
	for (;;) {
		int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
		if (fd < 0)
			return false;
		maps.len = 0;
		for (long n; maps.len < maps.room &&
				(n = sys3(SYS_read, fd, maps.text + maps.len, maps.room - maps.len)) > 0;)
			maps.len += (size_t)n;
		sys_close(fd);
		if (maps.len < maps.room)
			return true;
		size_t room = maps.room ? 2 * maps.room : MAPS_BYTES_FIRST;
		char *larger = room > MAPS_BYTES_MAX
				? NULL
				: sys_map(room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (!larger)
			return false;
		if (maps.text)
			sys2(SYS_munmap, maps.text, maps.room);
		maps.text = larger;
		maps.room = room;
	}
}

static uintptr_t hex(const char **at)
{
	uintptr_t v = 0;
	for (;; ++*at) {
		unsigned c = (unsigned char)**at;
		unsigned digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
		if (digit == 16)
			return v;
		v = v * 16 + digit;
	}
}

static bool is_writable(uintptr_t address)
{
	const char *at = maps.text, *end = maps.text + maps.len;
	while (at < end) {
		uintptr_t from = hex(&at);
		at++;
		uintptr_t to = hex(&at);
		if (address >= from && address < to)
			return at[2] == 'w';
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : end;
	}
	return true; /* unmapped or unknown: must not be written */
}

/* Objects. */

struct object {
	uintptr_t bias, start, end; /* of the mapping */
	uintptr_t relro, relro_end; /* pages */
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * rela, *jump;
	size_t rela_bytes, jump_bytes;
	bool is_open;    /* its RELRO pages are writable now */
	bool is_partial; /* an entry was not in the expected state */
};

static uintptr_t done[OBJECTS_MAX]; /* objects by their dynamic sections */
static unsigned done_count;
static unsigned long long closed; /* objects, so far */

static bool is_done(uintptr_t dynamic)
{
	for (unsigned i = 0; i < done_count; i++)
		if (done[i] == dynamic)
			return true;
	return false;
}

/* The dynamic linker relocates these addresses in place in ordinary objects. */
static uintptr_t place(const struct object *o, ElfW(Addr) value)
{
	return value < o->bias ? value + o->bias : value;
}

static const ElfW(Dyn) * read_object(struct object *o, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *dynamic = NULL;
	memset(o, 0, sizeof(*o));
	o->bias = info->dlpi_addr;
	o->start = UINTPTR_MAX;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = o->bias + p->p_vaddr, to = from + p->p_memsz;
		if (p->p_type == PT_DYNAMIC)
			dynamic = (const void *)from;
		if (p->p_type == PT_LOAD && from < o->start)
			o->start = from;
		if (p->p_type == PT_LOAD && to > o->end)
			o->end = to;
		if (p->p_type == PT_GNU_RELRO) {
			o->relro = from & ~PAGE;
			o->relro_end = to & ~PAGE;
		}
	}
	if (dynamic) {
		const ElfW(Dyn) *d = dynamic;
		for (; d->d_tag != DT_NULL; d++) {
			if (d->d_tag == DT_SYMTAB)
				o->symbols = (const void *)place(o, d->d_un.d_ptr);
			else if (d->d_tag == DT_STRTAB)
				o->names = (const void *)place(o, d->d_un.d_ptr);
			else if (d->d_tag == DT_RELA)
				o->rela = (const void *)place(o, d->d_un.d_ptr);
			else if (d->d_tag == DT_RELASZ)
				o->rela_bytes = d->d_un.d_val;
			else if (d->d_tag == DT_JMPREL)
				o->jump = (const void *)place(o, d->d_un.d_ptr);
			else if (d->d_tag == DT_PLTRELSZ)
				o->jump_bytes = d->d_un.d_val;
		}
	}
	return dynamic;
}

/* True if the slot may be written. If it is read-only, all RELRO pages of the object are made writable. */
static bool open_slot(struct object *o, uintptr_t slot)
{
	if (slot < o->relro || slot >= o->relro_end || o->is_open)
		return true;
	if (is_writable(slot)) {
		o->is_partial = true; /* the dynamic linker is still relocating it */
		return false;
	}
	o->is_open = !sys3(SYS_mprotect, o->relro, o->relro_end - o->relro, PROT_READ | PROT_WRITE);
	return o->is_open;
}

static void bind_slot(struct object *o, const ElfW(Rela) * r)
{
	unsigned type = ELF64_R_TYPE(r->r_info), symbol = ELF64_R_SYM(r->r_info);
	if (!symbol || (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) ||
			(type == R_X86_64_64 && r->r_addend))
		return;
	int row = find_row(o->names + o->symbols[symbol].st_name);
	if (row < 0 || o->symbols[symbol].st_shndx != SHN_UNDEF)
		return;
	uintptr_t slot = o->bias + r->r_offset, *at = (uintptr_t *)slot;
	uintptr_t value = __atomic_load_n(at, __ATOMIC_RELAXED);
	bool is_stub = type == R_X86_64_JUMP_SLOT && value >= o->start && value < o->end;
	if (value == hook_address((unsigned)row) || (!is_stub && value != real_address((unsigned)row)))
		return;
	if (open_slot(o, slot))
		__atomic_store_n(at, hook_address((unsigned)row), __ATOMIC_RELEASE);
}

static bool is_left_alone(const char *path)
{
	static const char *const starts[] = { "ld-linux", "libc.so", "linux-vdso", "libpthread.so", "libdl.so",
		"librt.so", "libsonde.so", "libasan.so", "libtsan.so", "libubsan.so", "liblsan.so" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static int bind_one(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct object o;
	(void)unused;
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs) && info->dlpi_subs != closed) {
		closed = info->dlpi_subs; /* another object may have been mapped at the same address */
		done_count = 0;
	}
	const ElfW(Dyn) *dynamic = read_object(&o, info);
	if (!dynamic || dynamic == _DYNAMIC || is_done((uintptr_t)dynamic))
		return 0;
	if (!is_left_alone(info->dlpi_name) && o.symbols && o.names) {
		for (size_t i = 0; o.jump && i < o.jump_bytes / sizeof(*o.jump); i++)
			bind_slot(&o, &o.jump[i]);
		for (size_t i = 0; o.rela && i < o.rela_bytes / sizeof(*o.rela); i++)
			bind_slot(&o, &o.rela[i]);
		if (o.is_open)
			sys3(SYS_mprotect, o.relro, o.relro_end - o.relro, PROT_READ);
		o.is_open = false;
	}
	if (!o.is_partial && done_count < OBJECTS_MAX)
		done[done_count++] = (uintptr_t)dynamic;
	bind_is_pending |= o.is_partial;
	return 0;
}

void bind_calls(void)
{
	static uint32_t is_binding;
	static bool has_table;
	if (__atomic_exchange_n(&is_binding, 1, __ATOMIC_ACQUIRE))
		return;
	bind_is_pending = false;
	if (!has_table) {
		for (unsigned row = 0; row < CALL_COUNT + EXTRAS; row++) {
			if (row < CALL_COUNT && !is_bound(row))
				continue;
			uint32_t i = hash_of(name_of(row)) % SLOTS;
			while (table[i])
				i = (i + 1) % SLOTS;
			table[i] = (uint16_t)(row + 1);
		}
		for (unsigned i = 0; i < EXTRAS; i++)
			extras[i].real = resolve_next(extras[i].name);
	}
	has_table = true;
	if (maps_read())
		dl_iterate_phdr(bind_one, NULL);
	__atomic_store_n(&is_binding, 0, __ATOMIC_RELEASE);
}

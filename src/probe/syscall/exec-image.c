/* Inspects executables; see exec-image.h. Files are untrusted: read, bounds-checked, never mapped. */
#include "probe/syscall/exec-image.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define HEADERS_MAX 64
#define NOTES_MAX 4096
#define ENVIRONMENT_MAX ((size_t)1 << 20)
#define GO_BUILD_ID 4

static bool read_headers(int fd, Elf64_Ehdr *e, Elf64_Phdr headers[HEADERS_MAX], size_t *count)
{
	if (pread(fd, e, sizeof(*e), 0) != sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
			e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_phentsize != sizeof(Elf64_Phdr))
		return false;
	*count = e->e_phnum < HEADERS_MAX ? e->e_phnum : HEADERS_MAX;
	size_t bytes = *count * sizeof(Elf64_Phdr);
	return pread(fd, headers, bytes, (off_t)e->e_phoff) == (ssize_t)bytes;
}

static bool has_go_note(const char *at, size_t n)
{
	Elf64_Nhdr h;
	while (n >= sizeof(h)) {
		memcpy(&h, at, sizeof(h));
		size_t name = ((size_t)h.n_namesz + 3) & ~(size_t)3, text = ((size_t)h.n_descsz + 3) & ~(size_t)3;
		if (name > n - sizeof(h) || text > n - sizeof(h) - name)
			return false;
		if (h.n_type == GO_BUILD_ID && h.n_namesz == 4 && !memcmp(at + sizeof(h), "Go\0", 4))
			return true;
		at += sizeof(h) + name + text;
		n -= sizeof(h) + name + text;
	}
	return false;
}

bool image_is_go(int fd)
{
	Elf64_Ehdr e;
	Elf64_Phdr headers[HEADERS_MAX];
	char notes[NOTES_MAX];
	size_t count;
	if (!read_headers(fd, &e, headers, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t n = headers[i].p_filesz < sizeof(notes) ? headers[i].p_filesz : sizeof(notes);
		if (headers[i].p_type == PT_NOTE && pread(fd, notes, n, (off_t)headers[i].p_offset) == (ssize_t)n &&
				has_go_note(notes, n))
			return true;
	}
	return false;
}

/* Is its loader glibc's? */
static bool has_loader(int fd)
{
	Elf64_Ehdr e;
	Elf64_Phdr headers[HEADERS_MAX];
	char name[256];
	size_t count;
	if (!read_headers(fd, &e, headers, &count) || e.e_machine != EM_X86_64)
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t n = headers[i].p_filesz < sizeof(name) ? headers[i].p_filesz : sizeof(name) - 1;
		if (headers[i].p_type != PT_INTERP || pread(fd, name, n, (off_t)headers[i].p_offset) != (ssize_t)n)
			continue;
		name[n] = '\0';
		return strstr(name, "/ld-linux") != NULL;
	}
	return false;
}

static bool read_of(pid_t pid, const char *what, struct buf *out)
{
	char path[48];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	return !fs_read_file(AT_FDCWD, path, ENVIRONMENT_MAX, out, NULL);
}

static bool has_preload(pid_t pid)
{
	CLEANUP(buf_release) struct buf env = BUF_INIT;
	if (!read_of(pid, "environ", &env))
		return false;
	for (size_t at = 0; at < env.len; at += strlen(env.data + at) + 1)
		if (!strncmp(env.data + at, "LD_PRELOAD=", 11) && strstr(env.data + at, "libsonde"))
			return true;
	return false;
}

/* The loader ignores LD_PRELOAD for setuid programs and those with file capabilities (AT_SECURE). */
static bool is_secure(pid_t pid)
{
	CLEANUP(buf_release) struct buf auxv = BUF_INIT;
	if (!read_of(pid, "auxv", &auxv))
		return false;
	for (size_t at = 0; at + sizeof(Elf64_auxv_t) <= auxv.len; at += sizeof(Elf64_auxv_t)) {
		Elf64_auxv_t one;
		memcpy(&one, auxv.data + at, sizeof(one));
		if (one.a_type == AT_SECURE)
			return one.a_un.a_val != 0;
	}
	return false;
}

static int open_exe(pid_t pid)
{
	char path[48];
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool image_is_foreign(pid_t pid)
{
	CLEANUP(cleanup_fd) int fd = open_exe(pid);
	Elf64_Ehdr e; /* both classes have the same layout up to there */
	return fd >= 0 && pread(fd, &e, sizeof(e), 0) > (ssize_t)offsetof(Elf64_Ehdr, e_version) &&
			!memcmp(e.e_ident, ELFMAG, SELFMAG) &&
			(e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_machine != EM_X86_64);
}

enum image_kind image_kind_of(pid_t pid)
{
	CLEANUP(cleanup_fd) int fd = open_exe(pid);
	if (fd < 0 || !has_loader(fd) || is_secure(pid) || !has_preload(pid))
		return IMAGE_UNSEEN;
	return image_is_go(fd) ? IMAGE_GO : IMAGE_TRACED;
}

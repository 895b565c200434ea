#include "probe/perf/module-file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define VDSO_BYTES_MAX ((uint64_t)64 << 10)

bool elf_file_get(const struct elf_file *f, uint64_t offset, void *out, size_t n)
{
	if (offset > f->bytes || n > f->bytes - offset)
		return false;
	if (f->memory) {
		memcpy(out, f->memory + offset, n);
		return true;
	}
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(f->fd, (char *)out + done, n - done, (off_t)(offset + done));
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static int open_regular(const char *path, struct elf_file *f)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -1;
	}
	f->bytes = (uint64_t)st.st_size;
	return fd;
}

static bool open_vdso(struct elf_file *f)
{
	Elf64_Ehdr e;
	f->memory = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	f->bytes = VDSO_BYTES_MAX;
	if (!f->memory || !elf_file_get(f, 0, &e, sizeof(e)))
		return false;
	uint64_t bytes = e.e_shoff + (uint64_t)e.e_shnum * e.e_shentsize;
	f->bytes = bytes < VDSO_BYTES_MAX ? bytes : VDSO_BYTES_MAX;
	return true;
}

bool elf_file_open(struct elf_file *f, const struct module *m)
{
	char path[4200];
	*f = (struct elf_file){ .fd = -1 };
	if (m->kind == MODULE_VDSO)
		return open_vdso(f);
	if (m->kind != MODULE_ELF)
		return false;
	if (m->fd >= 0) {
		struct stat st;
		f->fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 0);
		f->bytes = f->fd >= 0 && !fstat(f->fd, &st) ? (uint64_t)st.st_size : 0;
		return f->fd >= 0;
	}
	int n = snprintf(path, sizeof(path), "/proc/%d/root%s", m->pid, m->path);
	if (n > 0 && (size_t)n < sizeof(path))
		f->fd = open_regular(path, f);
	if (f->fd < 0)
		f->fd = open_regular(m->path, f);
	return f->fd >= 0;
}

void elf_file_close(struct elf_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

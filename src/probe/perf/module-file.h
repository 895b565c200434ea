/*
 * elffile: the bytes of a module's file, read and never mapped: a file that is cut while
 * we look cannot hurt. The vdso is read from our own memory.
 */
#ifndef SONDE_PROBE_PERF_MODULE_FILE_H
#define SONDE_PROBE_PERF_MODULE_FILE_H

#include "probe/perf/addrspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
	int fd;
	const uint8_t *memory;
	uint64_t bytes;
};

/* As its process sees it, which in a container is not as we do; when it has ended, by our own eyes. */
bool elf_file_open(struct elf_file *f, const struct module *m);
void elf_file_close(struct elf_file *f);
bool elf_file_get(const struct elf_file *f, uint64_t offset, void *out, size_t n);

#endif

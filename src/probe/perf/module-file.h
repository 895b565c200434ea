/*
 * module-file: the bytes of a module's file, read and never mapped: truncation by
 * another process cannot raise SIGBUS. The vdso is read from our own memory.
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

/* Opens the file as its process sees it, which differs in a container; by its path on the host if that has exited. */
bool elf_file_open(struct elf_file *f, const struct module *m);
void elf_file_close(struct elf_file *f);
bool elf_file_get(const struct elf_file *f, uint64_t offset, void *out, size_t n);

#endif

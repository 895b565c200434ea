/*
 * elf-symbols: the function symbols of a 64-bit ELF file in memory.
 *
 * The file is untrusted: every offset is checked, no alignment is assumed, and a table that does not fit is ignored.
 * These functions run inside traced programs: no allocation, no system calls, no thread-local state. The bytes belong
 * to the caller and must stay valid while names are used.
 */
#ifndef SONDE_BASE_ELF_SYMBOLS_H
#define SONDE_BASE_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbols {
	const uint8_t *table;
	size_t count;
	const char *names; /* ends with a NUL */
	size_t names_bytes;
};

struct elf_function {
	uint64_t at, end; /* addresses as in the file; equal if the size is unknown */
	const char *name;
};

/* Finds .symtab, which includes static functions; else .dynsym, which stripped files keep. False if neither exists. */
bool elf_symbols(const void *file, size_t bytes, struct elf_symbols *out);

/* Reads symbol i; false unless it is a function with an address. */
bool elf_function(const struct elf_symbols *s, size_t i, struct elf_function *out);

#endif

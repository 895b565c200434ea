/*
 * elffile: the functions that a 64-bit ELF file in memory names.
 *
 * The file may be anybody's and anything: every offset is checked, nothing is believed to be aligned, and a table
 * that does not fit is no table. No memory, no system calls, no state in the thread: it is used inside other people's
 * programs. The bytes stay the caller's and must stay as long as names are used.
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
	uint64_t at, end; /* addresses as the file has them; equal when its size is unknown */
	const char *name;
};

/* .symtab, which has the static functions too; else .dynsym, which a stripped file still has. False: neither. */
bool elf_symbols(const void *file, size_t bytes, struct elf_symbols *out);

/* Symbol number i, when it is a function with a place. */
bool elf_function(const struct elf_symbols *s, size_t i, struct elf_function *out);

#endif

/* btf: where members of the running kernel's structures are, as its type information says. */
#ifndef SONDE_PROBE_SYSCALL_BTF_H
#define SONDE_PROBE_SYSCALL_BTF_H

#include <stddef.h>
#include <stdint.h>

struct btf_place {
	const char *type, *member;
	int32_t offset; /* in bytes; -1: not found */
};

void btf_find(struct btf_place *places, size_t count);

#endif

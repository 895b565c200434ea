/* btf: offsets of struct members in the running kernel, from its BTF. */
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

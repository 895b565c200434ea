/*
 * elfnames: functions of one ELF file by offset, with inlined ones. Private to model/; the only user of libdw.
 *
 * Nothing is downloaded: debugging information comes from the file or, by build id, from
 * /usr/lib/debug.
 */
#ifndef SONDE_MODEL_ELFNAMES_H
#define SONDE_MODEL_ELFNAMES_H

#include <stdbool.h>
#include <stdint.h>

struct elfnames;

struct elfname {
	const char *function; /* mangled; valid until the file is closed */
	const char *source;
	int line;
};

/* build_id: hexadecimal, what the file must have; NULL: any. NULL when there is no such file. */
struct elfnames *elfnames_open(const char *path, const char *build_id);
void elfnames_free(struct elfnames *e); /* NULL is fine */
/* Call `say` for the innermost function first, then for those it was inlined into. False when nothing is known. */
bool elfnames_find(struct elfnames *e, uint64_t offset, void (*say)(void *arg, const struct elfname *n), void *arg);

#endif

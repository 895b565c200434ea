/*
 * elfnames: find the functions of one ELF file by offset, including inlined ones. Private to model/; the only user of
 * libdw.
 *
 * Nothing is downloaded: debugging information comes from the file or, by build id, from /usr/lib/debug.
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

/*
 * build_id: hexadecimal, must match the file's; NULL: any. Returns NULL if the file does not exist or does not match.
 */
struct elfnames *elfnames_open(const char *path, const char *build_id);
void elfnames_free(struct elfnames *e); /* NULL is allowed */
/* Call `say` for the innermost function, then for those it was inlined into. False if nothing is known. */
bool elfnames_find(struct elfnames *e, uint64_t offset, void (*say)(void *arg, const struct elfname *n), void *arg);

#endif

/*
 * symbols: names of code addresses, for functions traced by -finstrument-functions.
 *
 * A process reports its module mappings; names come from the modules' symbol tables, each read once. Files are
 * untrusted: their size is bounded, and an unreadable one yields `path+0x123`.
 */
#ifndef SONDE_RECORD_SYMBOLS_H
#define SONDE_RECORD_SYMBOLS_H

#include "store/strings.h"

#include <stddef.h>
#include <stdint.h>

struct symbols;

/* Add a module at [bias, end); the first one creates *s. */
void symbols_add(struct symbols **s, uint64_t bias, uint64_t end, const char *path, size_t path_bytes);
/* String id of the function that contains `address`. */
int64_t symbols_name(struct symbols **s, struct store_strings *strings, uint64_t address);
void symbols_free(struct symbols *s); /* accepts NULL */

#endif

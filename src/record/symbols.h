/*
 * symbols: names of code addresses, for functions traced by -finstrument-functions.
 *
 * A process says which modules it has mapped where; names come from their symbol
 * tables, read once each. Files are hostile input: bounded, and an unreadable one
 * gives `path+0x123`.
 */
#ifndef SONDE_RECORD_SYMBOLS_H
#define SONDE_RECORD_SYMBOLS_H

#include "store/strings.h"

#include <stddef.h>
#include <stdint.h>

struct symbols;

/* A module at [bias, end); the first one creates *s. */
void symbols_add(struct symbols **s, uint64_t bias, uint64_t end, const char *path, size_t path_bytes);
/* String id of the function that holds `address`. */
int64_t symbols_name(struct symbols **s, struct store_strings *strings, uint64_t address);
void symbols_free(struct symbols *s); /* NULL is fine */

#endif

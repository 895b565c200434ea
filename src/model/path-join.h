/*
 * path-join: join and normalize paths lexically.
 */
#ifndef SONDE_MODEL_PATH_JOIN_H
#define SONDE_MODEL_PATH_JOIN_H

#include "base/buf.h"
#include "store/schema.h"

/*
 * Append base/name, or name alone if it is absolute. Empty components, "." and a trailing slash are removed, ".." is
 * kept. An empty name yields the base; a relative name without a base stays relative and is never empty.
 */
void model_path_join(struct buf *out, const struct store_text *base, const struct store_text *name);

#endif

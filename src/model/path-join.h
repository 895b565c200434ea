/*
 * path: joining and cleaning paths by their text alone.
 */
#ifndef SONDE_MODEL_PATH_JOIN_H
#define SONDE_MODEL_PATH_JOIN_H

#include "base/buf.h"
#include "store/schema.h"

/*
 * Append base/name, or name alone when it is absolute. Empty parts, "." and a
 * slash at the end go, ".." stays. A name that is empty is the base; a relative
 * one without a base stays relative and is never empty.
 */
void model_path_join(struct buf *out, const struct store_text *base, const struct store_text *name);

#endif

/* preload: how a command gets libsonde. */
#ifndef SONDE_RECORD_PRELOAD_H
#define SONDE_RECORD_PRELOAD_H

#include "record/ringdir.h"

/* Its path, $SONDE_LIBRARY or this installation's, as LD_PRELOAD can hold it: the ring directory lends a name. */
int preload_library(const struct ring_dir *ring, struct buf *library, struct sonde_err *err);
/* "LD_PRELOAD=..." with what is there already. */
void preload_value(struct buf *out, const char *library);

#endif

/* preload: how a command loads libsonde. */
#ifndef SONDE_RECORD_PRELOAD_H
#define SONDE_RECORD_PRELOAD_H

#include "record/ringdir.h"

/*
 * The path of $SONDE_LIBRARY or of the installed library, valid in LD_PRELOAD: a link in the ring directory if needed.
 */
int preload_library(const struct ring_dir *ring, struct buf *library, struct sonde_err *err);
/* "LD_PRELOAD=..." including the present value. */
void preload_value(struct buf *out, const char *library);

#endif

/*
 * filter: which files are traced.
 *
 * DFTRACER_DATA_DIR names prefixes with colons between them, as texts: /data/a takes /data/ab
 * too. `all`, or nothing, takes everything. Never traced: pipes, sockets and what else has no
 * path, terminals, /proc, /sys, traces themselves (.pfw, .pfw.gz) and Python sources (.py).
 */
#ifndef DFTRACER_FILTER_H
#define DFTRACER_FILTER_H

#include "settings.h"

void filter_set(const char *data_dirs, const struct settings *settings);

/* 0 or 1; -1: a relative path, of which more must be known. */
int filter_is_wanted(const char *path);

#endif

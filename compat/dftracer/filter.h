/*
 * filter: which files are traced.
 *
 * DFTRACER_DATA_DIR is a colon-separated list of prefixes, compared as text: /data/a also matches /data/ab. `all`, or
 * an empty list, matches everything. Never traced: pipes, sockets and other files without a path, terminals, /proc,
 * /sys, traces (.pfw, .pfw.gz) and Python sources (.py).
 */
#ifndef DFTRACER_FILTER_H
#define DFTRACER_FILTER_H

#include "settings.h"

void filter_set(const char *data_dirs, const struct settings *settings);

/* 0 or 1; -1 for a path that must be resolved first (relative, or with "." or ".."). */
int filter_is_wanted(const char *path);

#endif

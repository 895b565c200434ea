/*
 * yaml: as much of YAML as DFTracer's configuration files use, without memory of its own.
 *
 * Mappings by indentation, plain and quoted scalars, comments, lists in both styles. Each
 * scalar is told with its keys joined by dots; the items of a list are told one by one
 * with the list's key. Anchors, tags and texts of several lines are not understood:
 * such a line is skipped.
 */
#ifndef DFTRACER_YAML_H
#define DFTRACER_YAML_H

#include <stdbool.h>

/* Tell each scalar of the NUL-terminated text, which is changed on the way. */
void yaml_read(char *text, void (*tell)(void *arg, const char *key, const char *value), void *arg);
/* The same for as much of a file as fits; false: it cannot be read. */
bool yaml_read_file(const char *path, void (*tell)(void *arg, const char *key, const char *value), void *arg);

#endif

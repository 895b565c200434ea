/*
 * yaml: the subset of YAML that DFTracer's configuration files use, without allocating memory.
 *
 * Mappings by indentation, plain and quoted scalars, comments, lists in both styles. Each scalar is reported with its
 * keys joined by dots; the items of a list are reported one by one with the list's key. Anchors, tags and multi-line
 * texts are not supported: such a line is skipped.
 */
#ifndef DFTRACER_YAML_H
#define DFTRACER_YAML_H

#include <stdbool.h>

/* Call `tell` for each scalar of the NUL-terminated text, which is modified. */
void yaml_read(char *text, void (*tell)(void *arg, const char *key, const char *value), void *arg);
/* The same for as much of a file as fits; false if it cannot be read. */
bool yaml_read_file(const char *path, void (*tell)(void *arg, const char *key, const char *value), void *arg);

#endif

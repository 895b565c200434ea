/* environment: the environment of a command. */
#ifndef SONDE_LAUNCH_ENVIRONMENT_H
#define SONDE_LAUNCH_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Our environment with "NAME=value" set and "NAME" removed; the last change of a name wins. The caller frees the
 * array; the strings are shared. NULL if out of memory.
 */
char **environment_with(const char *const *changes);

#endif

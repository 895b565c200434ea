/* environment: what a command finds in environ. */
#ifndef SONDE_LAUNCH_ENVIRONMENT_H
#define SONDE_LAUNCH_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/* Ours with "NAME=value" set and "NAME" taken out, the last word on a name counting. The array is the caller's to
 * free, the strings are shared. NULL when memory is short. */
char **environment_with(const char *const *changes);

#endif

/*
 * quantity: parses sizes and durations as people write them, on the command line and in files.
 *
 * They return 0; -EINVAL if the text is not a number with a known unit; -ERANGE if it does not fit int64_t. On failure
 * the value is unchanged and err has the text and the allowed units.
 */
#ifndef SONDE_BASE_QUANTITY_H
#define SONDE_BASE_QUANTITY_H

#include "base/err.h"

#include <stdint.h>

/* "64", "64K", "64M", "1.5GiB": powers of 1024. */
int parse_size(const char *text, uint64_t *bytes, struct sonde_err *err);
/* "10s", "5ms", "250us", "1.5m"; a unit is required except for 0. */
int parse_duration(const char *text, int64_t *ns, struct sonde_err *err);
/* The same, but a number without a unit is in seconds. */
int parse_seconds(const char *text, int64_t *ns, struct sonde_err *err);

#endif

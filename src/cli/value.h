/*
 * value: parses the text of an option into the field of its row.
 *
 * One function per type, in a table. On failure the field is unchanged and err has the error and the allowed values;
 * the caller prepends the option's name.
 */
#ifndef SONDE_CLI_VALUE_H
#define SONDE_CLI_VALUE_H

#include "cli/cli.h"

int value_set(const struct cli_option *option, const char *text, void *options, struct arena *arena,
		struct sonde_err *err);

/* Returns the index of text in choices, or -EINVAL with the list and, for a typo, the nearest one as hint. */
int value_choice(const char *const *choices, const char *text, size_t len, struct sonde_err *err);

#endif

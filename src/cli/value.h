/*
 * value: the text of an option becomes the field its row names.
 *
 * One function a type, found in a table. On failure the field is untouched and
 * err says what is wrong with the text and what is allowed; the caller puts the
 * option's name in front.
 */
#ifndef SONDE_CLI_VALUE_H
#define SONDE_CLI_VALUE_H

#include "cli/cli.h"

int value_set(const struct cli_option *option, const char *text, void *options, struct arena *arena,
		struct sonde_err *err);

/* text must be one of choices: its index, or -EINVAL with the list and, for a typo, the nearest as hint. */
int value_choice(const char *const *choices, const char *text, size_t len, struct sonde_err *err);

#endif

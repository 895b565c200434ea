/*
 * shell-words: a command given as one string, split like a shell does but never expanded.
 *
 * Quotes ('...', "..."), backslashes and blanks as in POSIX sh. `$`, globs, `~`, `;`, `|` and redirections are
 * ordinary characters if quoted; where a shell would act on them they are an error with a hint (--shell).
 */
#ifndef SONDE_BASE_SHELL_WORDS_H
#define SONDE_BASE_SHELL_WORDS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* The words, terminated by NULL; empty for a blank text. Returns 0, -EINVAL or -ENOMEM. */
int words_split(const char *text, struct arena *arena, char ***argv_out, struct sonde_err *err);
/* Appends the word quoted, so that a shell reads it back as one word in any position. */
void words_quote(struct buf *out, const char *word);
/* Appends the command quoted, so that a shell reads it back unchanged. */
void words_join(struct buf *out, char *const argv[]);

/* Returns the candidate nearest to `typed`, or NULL if none is near enough to suggest ("did you mean"). */
const char *words_nearest(const char *typed, const char *const *candidates);

#endif

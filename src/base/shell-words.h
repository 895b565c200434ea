/*
 * words: a command given as one string, split as a shell would and never expanded.
 *
 * Quotes ('...', "..."), backslashes and blanks as in POSIX sh; `$`, globs,
 * `~`, `;`, `|` and redirections are ordinary characters when quoted and an
 * error with a hint (--shell) when a shell would act on them.
 */
#ifndef SONDE_BASE_SHELL_WORDS_H
#define SONDE_BASE_SHELL_WORDS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* The words, ended by NULL, none for a blank text; 0, -EINVAL, or -ENOMEM. */
int words_split(const char *text, struct arena *arena, char ***argv_out, struct sonde_err *err);
/* So that a shell reads it back as this one word, wherever it stands. */
void words_quote(struct buf *out, const char *word);
/* So that a shell reads it back as this command. */
void words_join(struct buf *out, char *const argv[]);

/* The candidate nearest to `typed` within a distance worth proposing, or NULL ("did you mean"). */
const char *words_nearest(const char *typed, const char *const *candidates);

#endif

/*
 * worktrees: two revisions of the current git repository, each checked out in a temporary worktree.
 */
#ifndef SONDE_DUET_WORKTREES_H
#define SONDE_DUET_WORKTREES_H

#include "base/arena.h"
#include "base/err.h"
#include "base/fs.h"
#include "duet/duet.h"

struct duet_worktrees {
	struct tempdir base;
	const char *dirs[DUET_SIDES], *revisions[DUET_SIDES];
	const char *places[DUET_SIDES]; /* the counterpart of the current directory in each */
};

/* Whether the text is "A..B" or "A..", the revision B being HEAD. */
bool duet_is_range(const char *range);
/* The range must be valid. First removes worktrees of killed processes. The caller must call remove in any case. */
int duet_worktrees_make(struct duet_worktrees *t, const char *range, struct arena *arena, struct sonde_err *err);
void duet_worktrees_remove(struct duet_worktrees *t);

#endif

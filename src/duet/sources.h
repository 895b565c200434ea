/*
 * sources: where the compared programs come from: two revisions of the current git repository, each checked out in a
 * temporary worktree, and the container images of suites.
 */
#ifndef SONDE_DUET_SOURCES_H
#define SONDE_DUET_SOURCES_H

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

/*
 * The container images of suites: builds them from Dockerfiles, and copies them to another machine one at a
 * time, so that neither side needs disk space for more than one.
 */

/* Builds an image from DIR/Dockerfile, named after the directory; `engine` is podman or alike, as words. */
int duet_image_build(char *const *engine, const char *dir, struct arena *arena, struct sonde_err *err);
/* Host and image must not start with '-'. */
int duet_image_copy(char *const *engine, const char *remote_engine, const char *host, const char *image,
		struct arena *arena, struct sonde_err *err);

#endif

#include "duet/worktrees.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "launch/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME "sonde-duet-git"

/* Runs git and returns its first line of output (on failure, of the error); argv ends with NULL. */
static int git(const char *const *argv, struct buf *out, struct sonde_err *err)
{
	struct job_spec spec = JOB_SPEC_INIT;
	struct job *job = NULL;
	char text[512] = "";
	CLEANUP(cleanup_fd) int fd = memfd_create("sonde-duet-git", MFD_CLOEXEC);
	int rc;

	union {
		const char *const *in;
		char *const *out;
	} words = { .in = argv };

	if (fd < 0)
		return err_sys(err, errno, "cannot run git");
	spec.argv = words.out;
	spec.fds[1] = spec.fds[2] = fd;
	rc = job_start(&job, &spec, err);
	if (!rc)
		rc = job_wait(job, INT64_MAX, err);
	if (rc) {
		job_free(job);
		return rc;
	}
	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (job_status(job))
		rc = err_set(err, ECHILD, "git %s failed: %s", argv[1], text);
	job_free(job);
	if (!rc && out)
		buf_adds(out, text);
	return rc;
}

/* The counterpart of the current directory in the worktree; the root if the revision has none. */
static const char *place_in(const char *root, struct arena *arena)
{
	static const char *const show[] = { "git", "rev-parse", "--show-prefix", NULL };
	CLEANUP(buf_release) struct buf prefix = BUF_INIT;
	const char *place = NULL;
	struct sonde_err ignored;

	if (!git(show, &prefix, &ignored) && prefix.len > 1)
		place = arena_printf(arena, "%s/%.*s", root, (int)prefix.len - 1, prefix.data); /* ends with a / */
	return place && access(place, F_OK) == 0 ? place : root;
}

static int add_tree(struct duet_worktrees *t, enum duet_side side, const char *revision, struct arena *arena,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf commit = BUF_INIT;
	const char *spec = arena_printf(arena, "%s^{commit}", revision);
	const char *parse[] = { "git", "rev-parse", "--verify", "--end-of-options", spec, NULL };
	int rc = git(parse, &commit, err);

	if (rc)
		return rc;
	t->dirs[side] = arena_printf(arena, "%s/%c", t->base.path, "ab"[side]);
	t->revisions[side] = arena_printf(arena, "%s (%.12s)", revision, commit.data);
	if (!t->dirs[side] || !t->revisions[side])
		return err_sys(err, ENOMEM, "cannot create a worktree");
	const char *add[] = { "git", "worktree", "add", "--detach", "--force", t->dirs[side], commit.data, NULL };

	rc = git(add, NULL, err);
	if (!rc)
		t->places[side] = place_in(t->dirs[side], arena);
	return rc;
}

/* Removes worktrees of killed processes: their directories, and this repository's records of them. */
static void remove_left(void)
{
	static const char *const prune[] = { "git", "worktree", "prune", NULL };
	struct sonde_err ignored;

	tempdir_sweep(NAME);
	git(prune, NULL, &ignored);
}

bool duet_is_range(const char *range)
{
	const char *dots = strstr(range, "..");

	return dots && dots != range && dots[2] != '.'; /* "A...B" is another set of revisions */
}

int duet_worktrees_make(struct duet_worktrees *t, const char *range, struct arena *arena, struct sonde_err *err)
{
	const char *dots = strstr(range, ".."), *b = dots + 2;
	const char *a = arena_copy(arena, range, (size_t)(dots - range));
	int rc = a ? 0 : err_sys(err, ENOMEM, "cannot create a worktree");

	remove_left();
	if (!rc)
		rc = tempdir_make(&t->base, NAME, err);
	if (!rc)
		rc = add_tree(t, DUET_A, a, arena, err);
	return rc ? rc : add_tree(t, DUET_B, *b ? b : "HEAD", arena, err);
}

void duet_worktrees_remove(struct duet_worktrees *t)
{
	struct sonde_err ignored;

	for (int side = 0; side < DUET_SIDES; side++) {
		const char *remove[] = { "git", "worktree", "remove", "--force", t->dirs[side], NULL };

		if (t->dirs[side])
			git(remove, NULL, &ignored);
	}
	tempdir_release(&t->base);
}

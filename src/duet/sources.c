#include "duet/sources.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "launch/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
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

bool duet_is_range(const char *range)
{
	const char *dots = strstr(range, "..");

	return dots && dots != range && dots[2] != '.'; /* "A...B" is another set of revisions */
}

int duet_worktrees_make(struct duet_worktrees *t, const char *range, struct arena *arena, struct sonde_err *err)
{
	static const char *const prune[] = { "git", "worktree", "prune", NULL };
	const char *dots = strstr(range, ".."), *b = dots + 2;
	struct sonde_err ignored;
	const char *a = arena_copy(arena, range, (size_t)(dots - range));
	int rc = a ? 0 : err_sys(err, ENOMEM, "cannot create a worktree");

	/* Removes worktrees of killed processes: their directories, and this repository's records of them. */
	tempdir_sweep(NAME);
	git(prune, NULL, &ignored);
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

/* Concatenates a command and its arguments, NULL-terminated. */
static char **join(struct arena *arena, char *const *command, const char *const *args)
{
	size_t n = 0, m = 0;
	char **argv;

	while (command[n])
		n++;
	while (args[m])
		m++;
	argv = arena_alloc(arena, (n + m + 1) * sizeof(*argv));
	for (size_t i = 0; argv && i < n + m; i++)
		argv[i] = i < n ? command[i] : arena_strdup(arena, args[i - n]);
	return argv;
}

/* Starts a command with these streams; -1: inherited. */
static int start(struct job **job, char *const *argv, int in, int out, struct sonde_err *err)
{
	struct job_spec spec = JOB_SPEC_INIT;

	if (!argv)
		return err_sys(err, ENOMEM, "cannot start a command");
	spec.argv = argv;
	spec.fds[0] = in < 0 ? JOB_FD_NULL : in;
	spec.fds[1] = out < 0 ? STDERR_FILENO : out;
	return job_start(job, &spec, err);
}

static int finish(struct job *job, const char *what, const char *image, int rc, struct sonde_err *err)
{
	if (!rc)
		rc = job_wait(job, INT64_MAX, err);
	if (!rc && job_status(job))
		rc = err_set(err, ECHILD, "cannot %s the image '%s': status %d", what, image,
				WEXITSTATUS(job_status(job)));
	return rc;
}

int duet_image_build(char *const *engine, const char *dir, struct arena *arena, struct sonde_err *err)
{
	char *name = arena_strdup(arena, dir), *slash;
	const char *args[] = { "build", "--tag", NULL, dir, NULL };
	struct job *job = NULL;
	int rc;

	while (name && *name && name[strlen(name) - 1] == '/')
		name[strlen(name) - 1] = '\0';
	slash = name ? strrchr(name, '/') : NULL;
	args[2] = slash ? slash + 1 : name;
	if (!name || !*args[2] || *args[2] == '.' || *dir == '-')
		return err_set(err, EINVAL, "cannot name an image after the directory '%s'", dir);
	rc = start(&job, join(arena, engine, args), -1, -1, err);
	rc = finish(job, "build", args[2], rc, err);
	job_free(job);
	return rc;
}

/* save | ssh HOST load: no temporary file. */
int duet_image_copy(char *const *engine, const char *remote_engine, const char *host, const char *image,
		struct arena *arena, struct sonde_err *err)
{
	static char word[] = "ssh";
	static char *const ssh[] = { word, NULL };
	const char *const save[] = { "save", image, NULL };
	const char *const load[] = { host, remote_engine, "load", NULL }; /* split by the remote shell */
	struct job *saving = NULL, *loading = NULL;
	int fds[2], rc, loaded;

	if (pipe2(fds, O_CLOEXEC))
		return err_sys(err, errno, "cannot copy the image '%s'", image);
	rc = start(&saving, join(arena, engine, save), -1, fds[1], err);
	loaded = rc ? rc : start(&loading, join(arena, ssh, load), fds[0], -1, err);
	close(fds[0]);
	close(fds[1]);
	if (!loaded)
		loaded = finish(loading, "load", image, 0, err);
	if (!rc && !loaded)
		rc = finish(saving, "save", image, 0, err);
	job_free(saving);
	job_free(loading);
	return rc ? rc : loaded;
}

/*
 * duet-images: the images of suites: built from Dockerfiles, and moved to another machine one at a time, so that
 * neither
 * side needs room for more than one.
 */
#include "base/cleanup.h"
#include "base/words.h"
#include "cli/duet.h"
#include "launch/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A command with these streams; -1: ours. NULL-terminated words. */
static int start(struct job **job, const char *const *argv, int in, int out, struct sonde_err *err)
{
	struct job_spec spec = JOB_SPEC_INIT;

	union {
		const char *const *in;
		char *const *out;
	} words = { .in = argv };

	spec.argv = words.out;
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

/* DIR with a Dockerfile becomes an image of the directory's name. */
static int build(struct cli_context *ctx, const char *docker, const char *dir)
{
	char *name = arena_strdup(ctx->arena, dir), *slash;
	const char *argv[] = { docker, "build", "--tag", NULL, dir, NULL };
	struct job *job = NULL;
	int rc;

	while (name && *name && name[strlen(name) - 1] == '/')
		name[strlen(name) - 1] = '\0';
	slash = name ? strrchr(name, '/') : NULL;
	argv[3] = slash ? slash + 1 : name;
	if (!name || !*argv[3] || *argv[3] == '.' || *dir == '-')
		return err_set(ctx->err, EINVAL, "'%s' is not a directory whose name an image could have", dir);
	rc = start(&job, argv, -1, -1, ctx->err);
	rc = finish(job, "build", argv[3], rc, ctx->err);
	job_free(job);
	return rc;
}

/* save | ssh HOST load: nothing is put on a disk between. */
static int move(struct cli_context *ctx, const char *docker, const char *host, const char *image)
{
	const char *save[] = { docker, "save", image, NULL };
	const char *load[] = { "ssh", host, docker, "load", NULL };
	struct job *saving = NULL, *loading = NULL;
	int fds[2], rc, loaded;

	if (*host == '-' || *image == '-')
		return cli_usage(ctx, "'%s' is not a name", *host == '-' ? host : image);
	if (pipe2(fds, O_CLOEXEC))
		return err_sys(ctx->err, errno, "cannot move the image '%s'", image);
	rc = start(&saving, save, -1, fds[1], ctx->err);
	loaded = rc ? rc : start(&loading, load, fds[0], -1, ctx->err);
	close(fds[0]);
	close(fds[1]);
	if (!loaded)
		loaded = finish(loading, "load", image, 0, ctx->err);
	if (!rc && !loaded)
		rc = finish(saving, "save", image, 0, ctx->err);
	job_free(saving);
	job_free(loading);
	return rc ? rc : loaded;
}

int duet_run_images(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;
	const char *docker = o->docker ? o->docker : "podman", *word = ctx->arg_count > 1 ? ctx->args[1] : "";
	size_t first = !strcmp(word, "build") ? 2 : !strcmp(word, "move") ? 3 : 0;
	int rc = 0;

	if (!first || ctx->arg_count <= first)
		return cli_usage(ctx, "images takes 'build DIR...' or 'move HOST IMAGE...'");
	for (size_t i = first; i < ctx->arg_count && !rc; i++) {
		rc = first == 2 ? build(ctx, docker, ctx->args[i]) : move(ctx, docker, ctx->args[2], ctx->args[i]);
		if (!rc)
			printf("%s %s\n", first == 2 ? "built" : "moved", ctx->args[i]);
	}
	return rc;
}

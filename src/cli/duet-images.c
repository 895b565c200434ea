/*
 * duet-images: the images of suites: builds them from Dockerfiles, and copies them to another machine one at a time,
 * so that neither side needs disk space for more than one.
 */
#include "base/cleanup.h"
#include "base/shell-words.h"
#include "cli/duet-cli.h"
#include "launch/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *asked_docker(const struct duet_options *o)
{
	return o->docker ? o->docker : "podman";
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

/* Builds an image from DIR/Dockerfile, named after the directory. */
static int build(struct cli_context *ctx, char *const *docker, const char *dir)
{
	char *name = arena_strdup(ctx->arena, dir), *slash;
	const char *args[] = { "build", "--tag", NULL, dir, NULL };
	struct job *job = NULL;
	int rc;

	while (name && *name && name[strlen(name) - 1] == '/')
		name[strlen(name) - 1] = '\0';
	slash = name ? strrchr(name, '/') : NULL;
	args[2] = slash ? slash + 1 : name;
	if (!name || !*args[2] || *args[2] == '.' || *dir == '-')
		return err_set(ctx->err, EINVAL, "'%s' is not a directory whose name an image could have", dir);
	rc = start(&job, join(ctx->arena, docker, args), -1, -1, ctx->err);
	rc = finish(job, "build", args[2], rc, ctx->err);
	job_free(job);
	return rc;
}

/* save | ssh HOST load: no temporary file. */
static int move(struct cli_context *ctx, char *const *docker, const char *host, const char *image)
{
	static char word[] = "ssh";
	static char *const ssh[] = { word, NULL };
	const char *const save[] = { "save", image, NULL };
	const char *const load[] = { host, asked_docker(ctx->options), "load", NULL }; /* split by the remote shell */
	struct job *saving = NULL, *loading = NULL;
	int fds[2], rc, loaded;

	if (*host == '-' || *image == '-')
		return cli_usage(ctx, "'%s' is not a name", *host == '-' ? host : image);
	if (pipe2(fds, O_CLOEXEC))
		return err_sys(ctx->err, errno, "cannot move the image '%s'", image);
	rc = start(&saving, join(ctx->arena, docker, save), -1, fds[1], ctx->err);
	loaded = rc ? rc : start(&loading, join(ctx->arena, ssh, load), fds[0], -1, ctx->err);
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
	const char *word = ctx->arg_count > 1 ? ctx->args[1] : "";
	size_t first = !strcmp(word, "build") ? 2 : !strcmp(word, "move") ? 3 : 0;
	char **docker;
	int rc;

	if (!first || ctx->arg_count <= first)
		return cli_usage(ctx, "images takes 'build DIR...' or 'move HOST IMAGE...'");
	rc = words_split(asked_docker(o), ctx->arena, &docker, ctx->err);
	if (!rc && !docker[0])
		rc = cli_usage(ctx, "--docker is empty");
	for (size_t i = first; i < ctx->arg_count && !rc; i++) {
		rc = first == 2 ? build(ctx, docker, ctx->args[i]) : move(ctx, docker, ctx->args[2], ctx->args[i]);
		if (!rc)
			printf("%s %s\n", first == 2 ? "built" : "moved", ctx->args[i]);
	}
	return rc;
}

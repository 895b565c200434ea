#include "duet/images.h"

#include "launch/job.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

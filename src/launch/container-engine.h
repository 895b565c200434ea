/* engine: podman or docker, run by argument vectors. */
#ifndef SONDE_LAUNCH_CONTAINER_ENGINE_H
#define SONDE_LAUNCH_CONTAINER_ENGINE_H

#include "base/buf.h"
#include "launch/job.h"
#include "launch/mounts.h"

/* An argument vector that grows. Failures are sticky: look once, at words_done. */
struct words {
	char **items; /* NULL-terminated after words_done */
	size_t count, cap;
	bool is_failed;
};

void words_add(struct words *w, const char *word);
void words_addf(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int words_done(struct words *w); /* 0 or -ENOMEM */
void words_release(struct words *w);

/* A command that runs containers, with its own arguments if it has some: "podman", "sudo docker". */
void engine_add(struct words *w, const char *engine);
/* The engine asked for, or whichever there is; the caller's to free. */
int engine_find(char **path, const char *asked, struct sonde_err *err);
/* Run it to its end; out (NULL: dropped) gets what it prints. -EIO with its own words when it fails. */
int engine_run(const struct words *argv, struct buf *out, struct sonde_err *err);
/* A name that no other container of this machine has. */
void engine_name(char *out, size_t size, bool is_kept);
/*
 * The arguments of `run` for a place: limits, mounts (those of a request from `mounts`), environment, directory,
 * CPUs.
 */
void engine_add_place(struct words *w, const struct job_isolation *place, const struct job_spec *spec,
		const struct mount_dir *mounts);
void engine_add_env(struct words *w, const char *const *env);
bool engine_is_podman(const char *engine);    /* by its name: its containers are its own children */
bool engine_is_elsewhere(const char *engine); /* its daemon is on another machine, where files of ours are not */
/* What the image, or the arguments of `run`, put before a command. -errno: that cannot be told. */
int engine_add_entrypoint(struct words *w, const char *engine, const struct job_isolation *place);
/* The container is gone afterwards, at once, whatever it ran; fine when it was never there. */
int engine_remove(const char *engine, const char *name, struct sonde_err *err);
/* Its processes are ended, the container stays; fine when it was never there. */
void engine_kill(const char *engine, const char *name);
/* Host's number of its first process: 0 when it does not run, -errno. */
pid_t engine_pid(const char *engine, const char *name);
/* Has the kernel killed processes of it for want of memory? 1, 0, or a negative errno: that cannot be told. */
int engine_was_oom(const char *engine, const char *name);

#endif

/*
 * images: the container images of suites: builds them from Dockerfiles, and copies them to another machine one at a
 * time, so that neither side needs disk space for more than one.
 */
#ifndef SONDE_DUET_IMAGES_H
#define SONDE_DUET_IMAGES_H

#include "base/arena.h"
#include "base/err.h"

/* Builds an image from DIR/Dockerfile, named after the directory; `engine` is podman or alike, as words. */
int duet_image_build(char *const *engine, const char *dir, struct arena *arena, struct sonde_err *err);
/* Host and image must not start with '-'. */
int duet_image_copy(char *const *engine, const char *remote_engine, const char *host, const char *image,
		struct arena *arena, struct sonde_err *err);

#endif

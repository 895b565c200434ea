/*
 * image: tracing in this process: start and stop it, continue in forked children, finish before exit or exec.
 */
#ifndef DFTRACER_IMAGE_H
#define DFTRACER_IMAGE_H

#include "settings.h"

#include <stdbool.h>
#include <stdint.h>

/* Arguments of an initialization. */
struct image_wish {
	const char *log_file;  /* NULL: from the settings */
	const char *data_dirs; /* NULL: from the settings */
	int process_id;        /* negative: the real one */
	bool is_preload;
	bool is_binding; /* record calls, not only annotations */
};

/* 0: on; 1: not enabled; else -errno. Counted: each needs an image_end. */
int image_begin(const struct image_wish *wish);
void image_end(void);
/* The process exits: finish regardless of the count. */
void image_finish(void);

bool image_is_on(void);
extern struct settings image_settings;
extern bool image_has_args;
int64_t image_real_minus_mono_ns(void);

#endif

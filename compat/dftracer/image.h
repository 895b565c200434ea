/*
 * image: tracing in this process: switched on and off, carried into forked children, finished
 * before the process ends or becomes another program.
 */
#ifndef DFTRACER_IMAGE_H
#define DFTRACER_IMAGE_H

#include "settings.h"

#include <stdbool.h>
#include <stdint.h>

/* What an initialization asked for. */
struct image_wish {
	const char *log_file;  /* NULL: by the settings */
	const char *data_dirs; /* NULL: by the settings */
	int process_id;        /* below 0: the true one */
	bool is_preload;
	bool is_binding; /* calls are to be recorded, not only annotations */
};

/* 0: on; 1: not enabled; else a negative errno. Counted: each needs an image_end. */
int image_begin(const struct image_wish *wish);
void image_end(void);
/* The process ends: whatever the count says. */
void image_finish(void);

bool image_is_on(void);
extern struct settings image_settings;
extern bool image_has_args;
int64_t image_real_minus_mono_ns(void);

#endif

/*
 * setup: changes to this machine that need root, as reversible steps.
 *
 * A step has a current value, a wanted value and a function that writes one: applying writes the wanted value,
 * undoing writes the previous one. The record has, per step, the value before the change and the value written. It is
 * saved before the change is made. --undo does not touch a value that was changed since.
 */
#ifndef SONDE_DOCTOR_SETUP_H
#define SONDE_DOCTOR_SETUP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* What a step works on. */
struct setup_target {
	const char *root;   /* used instead of /; "" is / itself */
	const char *path;   /* of the step, relative to root */
	const char *wanted; /* value to set; when undoing, the value that was written */
};

struct setup_step {
	const char *id;
	const char *what;    /* "let users sample the kernel" */
	const char *path;    /* relative to root */
	const char *missing; /* message if the path does not exist */
	const char *wanted;
	bool is_ours;      /* the path is below the installation prefix of sonde */
	bool is_for_group; /* the last part of the wanted value is the group name */
	bool (*is_enough)(const struct setup_target *t, const char *now);
	int (*read)(const struct setup_target *t, struct buf *now, struct sonde_err *err); /* -ENOENT: not available */
	int (*write)(const struct setup_target *t, const char *value, struct sonde_err *err);
	/* Checks that the step has its effect; NULL: reading the value back is enough. */
	int (*verify)(const struct setup_target *t, struct sonde_err *err);
};

#define SETUP_GROUP "sonde-capture" /* default group that may run the helper */

extern const struct setup_step setup_steps[]; /* ends with id NULL */

struct setup_change {
	const char *id;
	const char *before;
	const char *after;
};

/* Changes that were made on this machine and not undone. */
struct setup_record {
	struct setup_change changes[32];
	size_t count;
};

/* A missing file is an empty record. Strings live in arena. */
int setup_record_load(struct setup_record *record, const char *path, struct arena *arena, struct sonde_err *err);
/* An empty record removes the file. */
int setup_record_save(const struct setup_record *record, const char *path, struct sonde_err *err);
/* Keeps the first `before` of a step that is already recorded. Does not copy the strings. Returns 0 or -ENOSPC. */
int setup_record_add(struct setup_record *record, const char *id, const char *before, const char *after);
struct setup_change *setup_record_find(struct setup_record *record, const char *id);
void setup_record_remove(struct setup_record *record, const char *id);

#endif

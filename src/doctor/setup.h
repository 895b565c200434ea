/*
 * setup: the changes to this machine that need root, as steps that can be taken
 * back.
 *
 * A step has a current value, a value it wants, and a way to write one; so doing
 * is writing the wanted value and undoing is writing the one that was there. The
 * record keeps, per step, what was there before and what was written. It is
 * saved before the change is made, and a value that somebody changed since is
 * left alone by --undo.
 */
#ifndef SONDE_DOCTOR_SETUP_H
#define SONDE_DOCTOR_SETUP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* What a step is done to. */
struct setup_target {
	const char *root;   /* stands for /; "" is / itself */
	const char *path;   /* of the step, below the root */
	const char *wanted; /* the value to have; when undoing, the value that was written */
};

struct setup_step {
	const char *id;
	const char *what;    /* "let users sample the kernel" */
	const char *path;    /* below the root */
	const char *missing; /* in words, when the path is not there */
	const char *wanted;
	bool is_ours;      /* the path is below the prefix that sonde is installed in */
	bool is_for_group; /* the name of the group is the last part of what is wanted */
	bool (*is_enough)(const struct setup_target *t, const char *now);
	int (*read)(const struct setup_target *t, struct buf *now, struct sonde_err *err); /* -ENOENT: not here */
	int (*write)(const struct setup_target *t, const char *value, struct sonde_err *err);
	/* It brings what it is for; NULL: reading it back is enough. */
	int (*verify)(const struct setup_target *t, struct sonde_err *err);
};

#define SETUP_GROUP "sonde-capture" /* may run the helper, unless another is named */

extern const struct setup_step setup_steps[]; /* ends with id NULL */

struct setup_change {
	const char *id;
	const char *before;
	const char *after;
};

/* What was changed here and not taken back. */
struct setup_record {
	struct setup_change changes[32];
	size_t count;
};

/* A missing file is an empty record. Strings live in arena. */
int setup_record_load(struct setup_record *record, const char *path, struct arena *arena, struct sonde_err *err);
/* An empty record removes the file. */
int setup_record_save(const struct setup_record *record, const char *path, struct sonde_err *err);
/* Keeps the first `before` of a step that is there already. The strings are not copied. 0 or -ENOSPC. */
int setup_record_add(struct setup_record *record, const char *id, const char *before, const char *after);
struct setup_change *setup_record_find(struct setup_record *record, const char *id);
void setup_record_remove(struct setup_record *record, const char *id);

#endif

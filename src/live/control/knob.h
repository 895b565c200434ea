/* knob: finds an application's knobs by name and sets them. */
#ifndef SONDE_LIVE_CONTROL_KNOB_H
#define SONDE_LIVE_CONTROL_KNOB_H

#include "base/err.h"
#include "live/control/change.h"
#include "sonde/shm.h"

#include <stddef.h>

#define KNOB_FOUND_MAX 64

struct knob_found {
	struct change_place place;
	struct sonde_knob knob; /* a copy with NUL-terminated texts */
};

struct knob_search {
	const char *name;
	struct knob_found found[KNOB_FOUND_MAX];
	size_t count;
};

/* Adds the knob of that name on the board `file` of a ring directory, if it exists. */
void knob_look(struct knob_search *s, const char *ring, const char *file);
/* The value in the board's format, checked against the knob's bounds. choice NULL: a number. */
int knob_text(const struct knob_found *f, double value, const char *choice, char text[CHANGE_TEXT_BYTES],
		struct sonde_err *err);

#endif

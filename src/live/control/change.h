/*
 * change: a place that the controller may set, and its current value.
 *
 * A place is a file of a cgroup, or a knob on a program's board. Values are text: the contents of a file, or the
 * requested number of a knob.
 */
#ifndef SONDE_LIVE_CONTROL_CHANGE_H
#define SONDE_LIVE_CONTROL_CHANGE_H

#include "base/err.h"
#include "base/journal.h"
#include "sonde/shm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CHANGE_PATH_BYTES 400
#define CHANGE_TEXT_BYTES 64

enum change_kind { CHANGE_FILE, CHANGE_KNOB };

struct change_place {
	enum change_kind kind;
	uint32_t knob; /* its slot on the board */
	char path[CHANGE_PATH_BYTES];
};

bool change_is_same(const struct change_place *a, const struct change_place *b);
/* 0 or -errno. A knob's bits are formatted in hexadecimal. */
int change_read(const struct change_place *p, char text[CHANGE_TEXT_BYTES]);
int change_write(const struct change_place *p, const char *text);

/* Knobs of an application, by name. */

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
void knob_find(struct knob_search *s, const char *ring, const char *file);
/* The value in the board's format, checked against the knob's bounds. choice NULL: a number. */
int knob_text(const struct knob_found *f, double value, const char *choice, char text[CHANGE_TEXT_BYTES],
		struct sonde_err *err);

/*
 * A process that reverts all changes when the controller dies, hangs or ends.
 *
 * Before a change is made, the watchdog records the original value. When the controller's end of the socket closes,
 * even by SIGKILL, or when its lease expires without a heartbeat, the watchdog restores the recorded values, the
 * latest first, and logs it. It is a fork without exec, in a separate session; it keeps no other descriptor.
 */

#define WATCHDOG_CHANGES_MAX 512

struct watchdog {
	int sock; /* -1: none */
	pid_t pid;
	int64_t lease_ns;
};

/* Call it before there are threads. */
int watchdog_start(struct watchdog *w, int64_t lease_ns, struct journal *journal, struct sonde_err *err);
/* Records the original value before the first change; -EPIPE: the watchdog is dead. */
int watchdog_remember(struct watchdog *w, const struct change_place *place, const char *before);
int watchdog_forget(struct watchdog *w, const struct change_place *place); /* the original value was restored */
int watchdog_beat(struct watchdog *w);
/* Closes the socket and waits until all changes are reverted. */
void watchdog_end(struct watchdog *w);

#endif

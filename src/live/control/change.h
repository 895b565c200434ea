/*
 * change: a place that the controller may set, and its current value.
 *
 * A place is a file of a cgroup, or a knob on a program's board. Values are text: the contents of a file, or the
 * requested number of a knob.
 */
#ifndef SONDE_LIVE_CONTROL_CHANGE_H
#define SONDE_LIVE_CONTROL_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

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

#endif

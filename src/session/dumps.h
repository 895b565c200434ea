/*
 * dumps: reads the output of external tools in a run: functions, groups and events of TAU, activities of a device
 * from nsys, series of tegrastats.
 *
 * Their data become values of the profile, the first SESSION_DUMP_ROWS names per kind; the files are left unchanged.
 * A dump that cannot be read is not an error: the profile has the reason. Tools run next to untrusted programs, so a
 * dump may contain anything.
 */
#ifndef SONDE_SESSION_DUMPS_H
#define SONDE_SESSION_DUMPS_H

#include "session/profile.h"

#include <stddef.h>

#define SESSION_DUMP_ROWS 20

/* Reads those of the last repeat, from directory `tools` of its run. */
void session_dumps_take(struct session_profile *p, const char *run);
/* Whether a value was read from a dump. */
bool session_value_is_dumped(const struct session_value *v);

#endif

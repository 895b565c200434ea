/*
 * dumps: what external tools have left in a run, read: functions, groups and events of TAU, what a device did and
 * for how long of nsys, the series of tegrastats.
 *
 * What they say becomes values of the profile, the first SESSION_DUMP_ROWS names of each kind; the files stay as
 * they are. A dump that cannot be read fails nothing: the profile says why. Tools run beside programs that nobody
 * vouches for, so a dump may hold anything.
 */
#ifndef SONDE_SESSION_DUMPS_H
#define SONDE_SESSION_DUMPS_H

#include "session/profile.h"

#include <stddef.h>

#define SESSION_DUMP_ROWS 20

/* Those of the last repeat, in its run's directory `tools`. */
void session_dumps_take(struct session_profile *p, const char *run);
/* Was a value read from a dump? */
bool session_value_is_dumped(const struct session_value *v);

#endif

/* actuator.c and its places. */
#ifndef SONDE_LIVE_CONTROL_ACTUATOR_PRIVATE_H
#define SONDE_LIVE_CONTROL_ACTUATOR_PRIVATE_H

#include "live/control/actuator.h"

/* The place, with what stands there when it is new; NULL: it cannot be read, or there are too many. */
struct actuator_place *actuator_place_of(struct actuator *a, const struct change_place *place, struct sonde_err *err);
void actuator_drop_place(struct actuator *a, struct actuator_place *p);
/* What the last who wishes something there wishes, else what stood there first. */
const char *actuator_in_force(const struct actuator_place *p);
void actuator_target(struct actuator_place *p, const char *who, const char *text);

#endif

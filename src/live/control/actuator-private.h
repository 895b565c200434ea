/* actuator-private: shared by actuator.c and actuator-places.c. */
#ifndef SONDE_LIVE_CONTROL_ACTUATOR_PRIVATE_H
#define SONDE_LIVE_CONTROL_ACTUATOR_PRIVATE_H

#include "live/control/actuator.h"

/*
 * Finds or adds the place; a new one gets the current value as its original. NULL: it is unreadable, or there are
 * too many.
 */
struct actuator_place *actuator_place_of(struct actuator *a, const struct change_place *place, struct sonde_err *err);
void actuator_drop_place(struct actuator *a, struct actuator_place *p);
/* The latest requested value, or the original one if nothing is requested. */
const char *actuator_in_force(const struct actuator_place *p);
void actuator_target(struct actuator_place *p, const char *who, const char *text);

#endif

/*
 * coach-private: what the two halves of a coach share: what it knows (online-controller.c) and what it decides
 * (online-decide.c).
 */
#ifndef SONDE_TUNE_ONLINE_CONTROLLER_PRIVATE_H
#define SONDE_TUNE_ONLINE_CONTROLLER_PRIVATE_H

#include "tune/online-controller.h"

/* The trial of a point that is not the optimiser's own proposal. */
int controller_add_trial(struct online_controller *c, const double *point, uint64_t *id, struct sonde_err *err);
/* The point with what was set by hand. */
void controller_apply_pins(const struct online_controller *c, double *point);
/* c->candidate is the optimiser's next proposal, kept until it is tried. -ENOENT: there is none. */
int controller_have_candidate(struct online_controller *c, struct sonde_err *err);
/* The candidate is changed to what can be had of it while the program runs, if that was not tried yet. */
int controller_have_live_candidate(struct online_controller *c, struct sonde_err *err);

#endif

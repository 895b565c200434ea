/*
 * online-controller-private: shared by the two parts of the controller: its state
 * (online-controller.c) and its decisions (online-decide.c).
 */
#ifndef SONDE_TUNE_ONLINE_CONTROLLER_PRIVATE_H
#define SONDE_TUNE_ONLINE_CONTROLLER_PRIVATE_H

#include "tune/online-controller.h"

/* Adds a trial for a point that the optimizer did not propose. */
int controller_add_trial(struct online_controller *c, const double *point, uint64_t *id, struct sonde_err *err);
/* Applies the parameters pinned by the user. */
void controller_apply_pins(const struct online_controller *c, double *point);
/* Makes c->candidate the optimizer's next proposal, kept until it is tried. -ENOENT: none left. */
int controller_have_candidate(struct online_controller *c, struct sonde_err *err);
/* Reduces the candidate to the changes that are possible without a restart, unless that was tried already. */
int controller_have_live_candidate(struct online_controller *c, struct sonde_err *err);

#endif

/*
 * counters: a counter of a recorded run as the value of its iterations: of one that counts up (a probe's total), by how
 * much it rose meanwhile, in all processes together; of a level, the mean of the values taken meanwhile, or the last
 * one before when none was.
 */
#ifndef SONDE_DUET_DUET_COUNTERS_H
#define SONDE_DUET_DUET_COUNTERS_H

#include "duet/duet.h"
#include "model/run-model.h"

/* Sets the value of the iterations from `first` on. -ENODATA: the run has no such counter. */
int duet_counter_read(struct model_run *run, const char *name, struct duet_samples *s, size_t first,
		struct sonde_err *err);

#endif

/*
 * duet-counters: a counter of a recorded run as the value of its iterations: for a monotonic counter (a probe's
 * total) its increase during the iteration, summed over all processes; for a level the mean of its samples during the
 * iteration, or the last one before it if there is none.
 */
#ifndef SONDE_DUET_DUET_COUNTERS_H
#define SONDE_DUET_DUET_COUNTERS_H

#include "duet/duet.h"
#include "model/run-model.h"

/* Sets the value of the iterations from `first` on. -ENODATA if the run lacks the counter. */
int duet_counter_read(struct model_run *run, const char *name, struct duet_samples *s, size_t first,
		struct sonde_err *err);

#endif

/*
 * metrics-board: metrics and knobs of the process in its board segment (sonde/shm.h).
 *
 * The segment is created on first use. A name gets its slot without locks: the slot's number is stored with the
 * interned name, so that all threads agree on one; a lost race leaves a slot of kind 0, which readers skip. An update
 * without a slot is dropped and counted.
 */
#ifndef SONDE_TRACER_METRICS_BOARD_H
#define SONDE_TRACER_METRICS_BOARD_H

#include "sonde/sonde.h"
#include "tracer/tracer.h"

/* Count a step at `ticks`, and add the time since the last one to the histogram. */
void board_step(struct sonde_site *site, const char *name, uint64_t ticks, int64_t index, double value);

/* For sonde.h, through api.c. */
void board_metric(struct sonde_site *site, const char *name, uint32_t update, double value);
uint64_t board_knob(struct sonde_site *site, const char *name, const struct sonde_knob_spec *spec);

#endif

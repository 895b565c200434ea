/*
 * board: metrics and knobs of the process in its board segment (sonde/shm.h).
 *
 * The segment is made when the first of them is used. A name gets its slot without
 * locks: the slot's number is kept with the interned name, so that all threads
 * agree on one; what is left of a lost race is a slot of kind 0, which readers skip.
 * An update that finds no slot is dropped and counted.
 */
#ifndef SONDE_TRACER_METRICS_BOARD_H
#define SONDE_TRACER_METRICS_BOARD_H

#include "sonde/sonde.h"
#include "tracer/tracer.h"

/* A step at `ticks`: counted, its time since the last one put into the histogram. */
void board_step(struct sonde_site *site, const char *name, uint64_t ticks, int64_t index, double value);

/* For sonde.h, through api.c. */
void board_metric(struct sonde_site *site, const char *name, uint32_t update, double value);
uint64_t board_knob(struct sonde_site *site, const char *name, const struct sonde_knob_spec *spec);

#endif

/*
 * around: what the machine did meanwhile: processor time that a hypervisor gave to others, and time in
 * which somebody waited for a processor. A result measured under such pressure deserves to say so.
 */
#ifndef SONDE_DUET_INTERFERENCE_H
#define SONDE_DUET_INTERFERENCE_H

#include "base/buf.h"

#include <stdint.h>

struct duet_interference {
	double steal_share;    /* of all processor time between start and stop; NaN: not known */
	double pressure_share; /* of the time: some task waited for a processor (PSI) */
	/* private */
	int64_t start_ns;
	double steal, total, waited_us;
};

void duet_interference_start(struct duet_interference *a);
void duet_interference_stop(struct duet_interference *a);

/* This machine in a few words: kernel, processor, how many of them we may use. */
void duet_machine(struct buf *out);

#endif

/*
 * interference: load from outside the comparison: CPU time stolen by the hypervisor, and time in which tasks waited
 * for a CPU. A result measured under such pressure gets a warning. Also what the machine is, and the CPUs of the sides.
 */
#ifndef SONDE_DUET_INTERFERENCE_H
#define SONDE_DUET_INTERFERENCE_H

#include "base/buf.h"
#include "duet/duet.h"

#include <sched.h>

struct duet_interference {
	double steal_share;    /* share of all CPU time between start and stop; NaN if unknown */
	double pressure_share; /* share of the time in which some task waited for a CPU (PSI) */
	/* private */
	int64_t start_ns;
	double steal, total, waited_us;
};

void duet_interference_start(struct duet_interference *a);
void duet_interference_stop(struct duet_interference *a);

/* Describes this machine: kernel, CPU model, number of usable CPUs. */
void duet_machine(struct buf *out);

/* Number of CPUs we may use. */
size_t duet_cpu_count(void);
/* Splits the CPUs we may use into two halves, of equal size if possible. False if there is only one. */
bool duet_split_cpus(cpu_set_t cpus[DUET_SIDES]);

#endif

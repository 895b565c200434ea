/*
 * energy: what the CPUs' own meters say (RAPL), as /sys/class/powercap tells it.
 *
 * A zone is a package or a part of one (core, uncore, dram); its counter goes up in
 * microjoules and begins again at 0 when it is full. Most machines let only root
 * read it, and virtual machines have none: then there is a reason and no counter.
 */
#ifndef SONDE_PROBE_PROC_ENERGY_H
#define SONDE_PROBE_PROC_ENERGY_H

#include "base/err.h"
#include "probe/proc/counters.h"

#define ENERGY_DIR "/sys/class/powercap"
#define ENERGY_ZONES_MAX 32

struct energy {
	struct energy_zone {
		int fd;
		uint64_t last_uj, range_uj; /* range 0: not known */
		double joules;              /* since the first reading */
		bool is_read;
		struct counter counter;
		char name[64];
	} zones[ENERGY_ZONES_MAX];
	size_t count;
};

/* The zones below `dir`; -errno with the reason when none can be read. */
int energy_open(struct energy *e, const char *dir, struct sonde_err *err);
void energy_look(struct energy *e);                      /* the zones' joules as they are now */
void energy_read(struct energy *e, struct counters *c);  /* the same, as counters */
void energy_close(struct energy *e, struct counters *c); /* counters are finished */
void energy_release(struct energy *e);                   /* of zones that were only looked at */

#endif

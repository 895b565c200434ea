/*
 * energy: the CPUs' energy counters (RAPL), from /sys/class/powercap.
 *
 * A zone is a package or a part of one (core, uncore, dram); its counter is in
 * microjoules and wraps to 0. On most machines only root can read it, and virtual
 * machines do not have it: then energy_open returns a reason instead of counters.
 */
#ifndef SONDE_PROBE_PROC_ENERGY_H
#define SONDE_PROBE_PROC_ENERGY_H

#include "base/err.h"
#include "probe/proc/series.h"

#define ENERGY_DIR "/sys/class/powercap"
#define ENERGY_ZONES_MAX 32

struct energy {
	struct energy_zone {
		int fd;
		uint64_t last_uj, range_uj; /* range 0: unknown */
		double joules;              /* since the first reading */
		bool is_read;
		struct counter counter;
		char name[64];
	} zones[ENERGY_ZONES_MAX];
	size_t count;
};

/* Opens the zones below `dir`; -errno with the reason if none can be read. */
int energy_open(struct energy *e, const char *dir, struct sonde_err *err);
void energy_look(struct energy *e);                      /* updates the zones' joules */
void energy_read(struct energy *e, struct counters *c);  /* the same, and adds them to the counters */
void energy_close(struct energy *e, struct counters *c); /* also finishes the counters */
void energy_release(struct energy *e);                   /* for zones without counters */

#endif

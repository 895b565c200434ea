/*
 * devices: GPUs and meters of energy, where there are any, as a scrape shows them.
 *
 * They are looked for at the first look. NVML is asked then and there; a command that prints
 * (nvidia-smi, tegrastats) is read by a thread of its own as its lines come, so that what is
 * shown is the newest, and what is older than READING_AGE_NS is not shown at all. What a
 * machine does not have has no family.
 */
#ifndef SONDE_LIVE_DEVICES_H
#define SONDE_LIVE_DEVICES_H

#include "live/exposition.h"

struct live_devices;

/* powercap NULL: /sys/class/powercap. NULL: no memory. */
struct live_devices *live_devices_open(const char *powercap);
void live_devices_free(struct live_devices *d); /* NULL is fine */
void live_devices_show(struct live_devices *d, struct exposition *x);

#endif

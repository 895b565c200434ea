/*
 * devices: metrics of GPUs and energy meters, if present.
 *
 * The devices are detected at the first read. NVML is queried at each read; the output of a command (nvidia-smi,
 * tegrastats) is read continuously by a separate thread, so that the newest value is shown. Values older than
 * READING_AGE_NS are not shown. Missing devices have no metric family.
 */
#ifndef SONDE_LIVE_DEVICES_H
#define SONDE_LIVE_DEVICES_H

#include "live/exposition.h"

struct live_devices;

/* powercap NULL: /sys/class/powercap. Returns NULL if out of memory. */
struct live_devices *live_devices_open(const char *powercap);
void live_devices_free(struct live_devices *d); /* d may be NULL */
void live_devices_show(struct live_devices *d, struct exposition *x);

#endif

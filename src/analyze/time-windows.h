/*
 * time-windows: the run divided into windows of 0.1 s, as in SOFA, and the activity of the machine in each: load of
 * the busiest CPU and device, and bytes transferred over the network and by disks. Private to analyze/.
 */
#ifndef SONDE_ANALYZE_TIME_WINDOWS_H
#define SONDE_ANALYZE_TIME_WINDOWS_H

#include "analyze/pass.h"

/* The first four are in ns, the maximum over CPUs or devices; the others are in bytes, the total. */
enum windows_what {
	WINDOWS_USR,
	WINDOWS_SYS,
	WINDOWS_IOW,
	WINDOWS_GPU,
	WINDOWS_SENT, /* by network devices other than the loopback */
	WINDOWS_RECEIVED,
	WINDOWS_DISK,
	WINDOWS_WHAT
};

struct windows {
	size_t count;
	int64_t width_ns;
	bool is_known[WINDOWS_WHAT]; /* it was recorded */
	float (*values)[WINDOWS_WHAT];
	/* private */
	struct analyze *a;
	struct windows_reading *readings; /* by string id */
	size_t reading_count;
};

#define WINDOWS_INIT { 0 }

/* Reads the windows of the analyzed range, which must not be empty. Release it in any case. */
int windows_read(struct windows *w, struct analyze *a, struct sonde_err *err);
void windows_release(struct windows *w);

/* Pearson's; NaN if either is constant. */
double windows_correlation(const struct windows *w, enum windows_what x, enum windows_what y);
/* A quantile over the windows, per second; NaN if not recorded or out of memory. */
double windows_quantile(const struct windows *w, enum windows_what what, double p);

#endif

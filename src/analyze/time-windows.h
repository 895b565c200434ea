/*
 * windows: the run cut into windows of a tenth of a second, as SOFA does it, and
 * what the machine did in each: how busy the busiest CPU and the devices were,
 * and how many bytes went over the network and to disks. Private to analyze/.
 */
#ifndef SONDE_ANALYZE_TIME_WINDOWS_H
#define SONDE_ANALYZE_TIME_WINDOWS_H

#include "analyze/pass.h"

/* The first four in nanoseconds, the largest of any CPU or device; the others in bytes, all of them together. */
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
	bool is_known[WINDOWS_WHAT]; /* something tells it */
	float (*values)[WINDOWS_WHAT];
	/* private */
	struct analyze *a;
	struct windows_reading *readings; /* by string id */
	size_t reading_count;
};

#define WINDOWS_INIT { 0 }

/* Of what is looked at, which has a length. Release it whatever comes back. */
int windows_read(struct windows *w, struct analyze *a, struct sonde_err *err);
void windows_release(struct windows *w);

/* Pearson's; NaN when either never changes. */
double windows_correlation(const struct windows *w, enum windows_what x, enum windows_what y);
/* A quantile over the windows, a second; NaN when nothing tells it. -ENOMEM is NaN too. */
double windows_quantile(const struct windows *w, enum windows_what what, double p);

#endif

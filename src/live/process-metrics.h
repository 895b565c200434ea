/* process: what /proc says of one process. */
#ifndef SONDE_LIVE_PROCESS_METRICS_H
#define SONDE_LIVE_PROCESS_METRICS_H

#include <stdint.h>
#include <sys/types.h>

struct live_process {
	char name[32];
	double cpu_seconds; /* with the children it has waited for */
	uint64_t resident_bytes, virtual_bytes;
	double start_seconds; /* after the machine's start */
};

/* -ESRCH: it has ended; also when the number is another's now, who began after begun_mono_ns (INT64_MAX: anybody). */
int live_process_read(struct live_process *p, pid_t pid, int64_t begun_mono_ns);
/* The same by an open /proc/PID/stat. */
int live_process_poll(struct live_process *p, int fd, int64_t begun_mono_ns);

#endif

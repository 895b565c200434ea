/* process-metrics: values of one process, from /proc. */
#ifndef SONDE_LIVE_PROCESS_METRICS_H
#define SONDE_LIVE_PROCESS_METRICS_H

#include <stdint.h>
#include <sys/types.h>

struct live_process {
	char name[32];
	double cpu_seconds; /* includes waited-for children */
	uint64_t resident_bytes, virtual_bytes;
	double start_seconds; /* since boot */
};

/* -ESRCH: it has exited, or the pid was reused by a process started after begun_mono_ns (INT64_MAX: accept any). */
int live_process_read(struct live_process *p, pid_t pid, int64_t begun_mono_ns);
/* The same for an open /proc/PID/stat. */
int live_process_poll(struct live_process *p, int fd, int64_t begun_mono_ns);

#endif

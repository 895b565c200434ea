/*
 * syscall-rows: system calls of a process as rows of the table io.
 *
 * The file and offset of each descriptor are tracked per process, by the tracer's
 * rules (src/tracer/fds.h): a new identity at each open, inherited by dup and fork; an
 * offset is reported only while it is provably used by one thread.
 */
#ifndef SONDE_PROBE_SYSCALL_SYSCALL_ROWS_H
#define SONDE_PROBE_SYSCALL_SYSCALL_ROWS_H

#include "probe/probe.h"
#include "probe/syscall/event.h"

struct syscall_rows {
	struct probe_host *host;
	uint64_t rows, filtered, images;
	uint64_t foreign; /* processes with other call numbers (i386) */
	uint64_t unnamed; /* calls with a path that was not read */
	/* private */
	struct rows_process **slots;
	uint64_t next_file;
	int64_t *call_ids; /* by number and variant; 0: not looked up yet */
};

int syscall_rows_init(struct syscall_rows *r, struct probe_host *host);
void syscall_rows_release(struct syscall_rows *r);
/* The texts follow the event. */
void syscall_rows_take(struct syscall_rows *r, const struct syscall_event *e);

#endif
